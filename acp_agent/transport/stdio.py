"""Standard input and output as the two ends of a protocol stream.

Owns the descriptors from the moment the process takes them over until `finish()`, the one reader and the one writer.
Deliberately absent: lines and messages (`jsonrpc/framing.py`), order and limits (`outbox.py`), and what an end of
input or a lost reader means for the work in hand (the server decides).

Nothing here starts a task or makes a future for a message: the loop calls back when there is something to read or
room to write, and what was posted during one pass of the loop goes out in one write.
"""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from acp_agent.transport.outbox import FLUSH_MARK_BYTES, Outbox
from acp_agent.transport.sink import Sink, open_sink

READ_BYTES = 64 * 1024
"""One read: what a pipe of Linux holds. Four times as much measured no faster on pipes, and a flood is noticed between
two reads only. Also the slice of a file between two passes of the loop."""

_FIRST_FREE_DESCRIPTOR = 3


class NoStandardOutputError(Exception):
    """The process was started with its standard output closed, so nobody could hear an answer."""


class Descriptors(NamedTuple):
    """The protocol's own descriptors: above 2, and never inherited by a child."""

    stdin: int
    stdout: int


def take_over() -> Descriptors:
    """Move the protocol's stream off descriptors 0 and 1, and return where it is now.

    Afterwards 0 reads as empty and 1 is standard error, so a print of ours, of a library or of a child can neither
    write to the wire nor eat from it. What was printed before and still sits in `sys.stdout` goes to standard error
    too. A closed standard input counts as an empty one; a closed standard error is replaced by the null device.
    Raises NoStandardOutputError if there is no standard output to answer on. To be called once, before any output.
    """
    try:
        stdout = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR)
    except OSError as problem:
        raise NoStandardOutputError("standard output is closed: there is nobody to answer to") from problem
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        stdin = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR)
    except OSError:
        stdin = fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_DESCRIPTOR)
    try:
        os.fstat(2)
    except OSError:
        os.dup2(null, 2)
    os.dup2(null, 0)
    os.dup2(2, 1)
    if null > 2:
        os.close(null)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # In the order of standard error's own lines, whatever buffering the old target had called for.
        sys.stdout.reconfigure(line_buffering=True)
    return Descriptors(stdin, stdout)


class StdioTransport:
    """The reader and the single writer of one protocol stream, on the running event loop.

    on_bytes: gets each slice as it arrives, in order; b"" once, last, at the end of input.
    on_write_closed: called once, on a later pass of the loop, when the reader at the other end is gone; the outbox is
    closed by then and `write_error` says why.
    """

    def __init__(
        self,
        descriptors: Descriptors,
        outbox: Outbox,
        on_bytes: Callable[[bytes], None],
        on_write_closed: Callable[[], None],
    ) -> None:
        self.write_error: OSError | None = None
        self._loop = asyncio.get_running_loop()
        self._outbox = outbox
        self._on_bytes = on_bytes
        self._on_write_closed = on_write_closed

        self._stdin = descriptors.stdin
        self._stdin_pollable = True
        self._reading = False
        self._at_end = False
        self._paused_by_owner = False
        self._paused_by_flood = False
        self._next_slice: asyncio.Handle | None = None

        self._sink: Sink = open_sink(descriptors.stdout)
        self._flush_scheduled = False
        self._awaiting_room = False
        self._try_again_above = 0
        self._output_closed = False
        self._finished = False

    def start(self) -> None:
        """Begin to read, and to write what has been posted already."""
        if self._sink.hangup_is_readable:
            # The loss of the reader is noticed even while there is nothing to write.
            self._loop.add_reader(self._sink.descriptor, self._reader_went_away)
        self._outbox.attach(self._schedule_flush, self.flush_now)
        self._adjust_reading()

    # Reading

    def pause_reading(self) -> None:
        """Take nothing more from the peer until `resume_reading()`."""
        self._paused_by_owner = True
        self._adjust_reading()

    def resume_reading(self) -> None:
        """Read again, unless unread answers have flooded the outbox: then as soon as they are gone."""
        self._paused_by_owner = False
        self._adjust_reading()

    def _adjust_reading(self) -> None:
        wanted = not (self._at_end or self._paused_by_owner or self._paused_by_flood or self._finished)
        if wanted == self._reading:
            return
        self._reading = wanted
        if wanted and self._stdin_pollable:
            try:
                self._loop.add_reader(self._stdin, self._read)
            except OSError:
                # epoll refuses regular files and the null device, which never wait: read them slice by slice.
                self._stdin_pollable = False
        elif self._stdin_pollable:
            self._loop.remove_reader(self._stdin)
        if not self._stdin_pollable:
            self._schedule_slice()

    def _schedule_slice(self) -> None:
        if self._reading and self._next_slice is None:
            self._next_slice = self._loop.call_soon(self._read_slice)

    def _read_slice(self) -> None:
        self._next_slice = None
        if self._reading:
            try:
                self._read()
            finally:
                self._schedule_slice()

    def _read(self) -> None:
        try:
            data = os.read(self._stdin, READ_BYTES)
        except BlockingIOError:
            # The description may be non-blocking by its other owners' doing, and one of them was faster.
            return
        except OSError:
            # A terminal that is gone says EIO, a connection that broke ECONNRESET: the input is over either way.
            data = b""
        if not data:
            self._at_end = True
            self._adjust_reading()
        self._on_bytes(data)
        if self._outbox.flooded:
            self._paused_by_flood = True
            self._adjust_reading()

    # Writing

    def flush_now(self) -> None:
        """Hand the kernel what it takes at this moment, without giving way to other tasks.

        While the kernel is full this does nothing until another flush mark's worth has been posted: to ask it again
        for each chunk would cost more than the chunk.
        """
        if self._awaiting_room and self._outbox.pending_bytes < self._try_again_above:
            return
        self._write()

    def _schedule_flush(self) -> None:
        if not self._flush_scheduled and not self._awaiting_room:
            self._flush_scheduled = True
            self._loop.call_soon(self._scheduled_flush)

    def _scheduled_flush(self) -> None:
        self._flush_scheduled = False
        if not self._awaiting_room:
            self._write()

    def _write(self) -> None:
        outbox = self._outbox
        if self._output_closed:
            return
        buffers = outbox.head()
        if not buffers:
            self._await_room(False)
            return
        try:
            count = self._sink.write(buffers)
        except BlockingIOError:
            count = 0
        except OSError as problem:
            self._lose_reader(problem)
            return
        del buffers
        if count:
            outbox.taken(count)
            if self._paused_by_flood and outbox.pending_bytes <= outbox.limit_bytes:
                self._paused_by_flood = False
                self._adjust_reading()
        if not outbox.pending_bytes:
            self._await_room(False)
        elif self._sink.pollable:
            self._try_again_above = outbox.pending_bytes + FLUSH_MARK_BYTES
            self._await_room(True)
        else:
            self._schedule_flush()

    def _await_room(self, wanted: bool) -> None:
        if wanted == self._awaiting_room:
            return
        self._awaiting_room = wanted
        if wanted:
            self._loop.add_writer(self._sink.descriptor, self._write)
        else:
            self._loop.remove_writer(self._sink.descriptor)

    def _reader_went_away(self) -> None:
        self._lose_reader(BrokenPipeError("the reader of standard output is gone"))

    def _lose_reader(self, problem: OSError) -> None:
        if self.write_error is not None or self._output_closed:
            return
        self.write_error = problem
        self._stop_watching_output()
        self._outbox.close()
        # Later, not now: the caller may be a turn in the middle of a post, which this will cancel.
        self._loop.call_soon(self._on_write_closed)

    def peer_has_read(self) -> bool | None:
        """Whether the peer has read all that the kernel has taken; None where the system does not tell."""
        return None if self._output_closed else self._sink.is_drained()

    def close_output(self) -> None:
        """Let the peer see the end of the stream, and go on reading.

        The kernel gets what it takes at once; the rest, and whatever is posted later, is dropped. Who wants all of it
        written waits for `outbox.flushed()` first. A second call does nothing.
        """
        if not self._output_closed:
            self._write()
            self._end_output(self._sink.end)
            self._paused_by_flood = False  # what it waited for is dropped
            self._adjust_reading()

    def _end_output(self, close: Callable[[], None]) -> None:
        if not self._output_closed:
            self._stop_watching_output()
            self._output_closed = True
            self._outbox.close()
            close()

    def _stop_watching_output(self) -> None:
        self._await_room(False)
        if self._sink.hangup_is_readable:
            self._loop.remove_reader(self._sink.descriptor)

    # The end

    async def finish(self, timeout_s: float) -> bool:
        """Stop reading, write what is pending for at most timeout_s seconds, and close both descriptors.

        Returns True if everything that was ever posted has been handed to the kernel. A second call does nothing.
        """
        if self._finished:
            return not self._outbox.dropped_bytes
        self.pause_reading()
        try:
            self._write()
            async with asyncio.timeout(timeout_s):
                await self._outbox.flushed()
        except TimeoutError:
            pass
        finally:
            self._finished = True
            self._end_output(self._sink.close)
            os.close(self._stdin)
        return not self._outbox.dropped_bytes
