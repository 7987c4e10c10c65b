"""How bytes are handed to one descriptor without ever waiting in the kernel and without changing it for others.

Owns the differences between kinds of descriptor. Deliberately absent: what to write and when (`stdio.py`).

O_NONBLOCK belongs to the open file description, which a terminal, a shell and the parent may share with us: set on
ours, it breaks theirs, and a kill would leave it set. So each kind gets its own way:

| kind | way |
|---|---|
| pipe | a description of our own, opened through /proc; without /proc, O_NONBLOCK until the close |
| socket | MSG_DONTWAIT on each send |
| terminal | a description of our own, opened by its name; without a name, small writes when it is ready |
| regular file, /dev/null | plain writes: they do not wait for a reader |
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import socket
import stat
import termios
from collections.abc import Sequence
from typing import Protocol

Buffer = bytes | bytearray | memoryview

_PROC_DESCRIPTORS = "/proc/self/fd"


class Sink(Protocol):
    """One descriptor that takes bytes."""

    descriptor: int
    """What to watch for writability; owned by the sink."""
    pollable: bool
    """False for what is always ready and what epoll refuses."""
    hangup_is_readable: bool
    """True if the loss of the reader shows as readability of the descriptor."""

    def write(self, buffers: Sequence[Buffer]) -> int:
        """Hand over what fits now; return the number of bytes taken.

        Raises BlockingIOError if nothing fits now, another OSError if nothing will ever again."""

    def is_drained(self) -> bool | None:
        """Whether the reader has read all that was taken; None where the system does not tell."""

    def close(self) -> None:
        """Give the descriptor back as it was, and close it."""

    def end(self) -> None:
        """As close, and the reader sees the end of the stream though the input may be the same socket."""


def open_sink(descriptor: int) -> Sink:
    """The right sink for the descriptor, which it then owns."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        return _SocketSink(descriptor)
    if stat.S_ISFIFO(mode):
        return _pipe_sink(descriptor)
    if stat.S_ISCHR(mode) and os.isatty(descriptor):
        return _terminal_sink(descriptor)
    return _DescriptorSink(descriptor, pollable=False)


def _pipe_sink(descriptor: int) -> Sink:
    # Only a pure write end tells of its reader's end by readability; one open both ways is readable by its own data.
    write_only = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
    own = _reopened(f"{_PROC_DESCRIPTORS}/{descriptor}", descriptor)
    if own is not None:
        os.close(descriptor)
        return _DescriptorSink(own, hangup_is_readable=write_only)
    return _BorrowedPipeSink(descriptor, hangup_is_readable=write_only)


def _terminal_sink(descriptor: int) -> Sink:
    try:
        name = os.ttyname(descriptor)
    except OSError:
        name = ""
    # To open a multiplexer makes a new terminal instead of reaching the one that is meant.
    own = None if not name or name.endswith("ptmx") else _reopened(name, descriptor)
    if own is not None:
        os.close(descriptor)
        return _DescriptorSink(own)
    return _SmallWritesSink(descriptor)


def _reopened(path: str, like: int) -> int | None:
    """A non-blocking description of our own for the same object; None where the system gives none."""
    try:
        own = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    there, here = os.fstat(own), os.fstat(like)
    if (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino):
        return own
    os.close(own)
    return None


def _is_zero(descriptor: int, request: int) -> bool | None:
    """What an ioctl that counts has to say; None if it is not for this kind of descriptor."""
    number = array.array("i", [0])
    try:
        fcntl.ioctl(descriptor, request, number)
    except OSError:
        return None
    return number[0] == 0


class _DescriptorSink:
    """A descriptor whose writes never wait: our own non-blocking description, or a plain file."""

    __slots__ = ("descriptor", "hangup_is_readable", "pollable")

    def __init__(self, descriptor: int, *, pollable: bool = True, hangup_is_readable: bool = False) -> None:
        self.descriptor = descriptor
        self.pollable = pollable
        self.hangup_is_readable = hangup_is_readable

    def write(self, buffers: Sequence[Buffer]) -> int:
        if len(buffers) == 1:
            return os.write(self.descriptor, buffers[0])
        return os.writev(self.descriptor, buffers)

    def is_drained(self) -> bool | None:
        # A pipe tells at either end what is in it.
        return _is_zero(self.descriptor, termios.FIONREAD)

    def close(self) -> None:
        os.close(self.descriptor)

    def end(self) -> None:
        self.close()


class _BorrowedPipeSink(_DescriptorSink):
    """A pipe whose description we may share: made non-blocking, and blocking again at the close."""

    __slots__ = ("_was_blocking",)

    def __init__(self, descriptor: int, *, hangup_is_readable: bool) -> None:
        super().__init__(descriptor, hangup_is_readable=hangup_is_readable)
        self._was_blocking = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)

    def close(self) -> None:
        if self._was_blocking:
            os.set_blocking(self.descriptor, True)
        super().close()


class _SmallWritesSink(_DescriptorSink):
    """A terminal that only has a shared, blocking description: no more than it takes when it says it is ready."""

    __slots__ = ()

    def write(self, buffers: Sequence[Buffer]) -> int:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLOUT)
        if not poll.poll(0):
            raise BlockingIOError
        with memoryview(buffers[0]) as whole, whole[: select.PIPE_BUF] as part:
            return os.write(self.descriptor, part)


class _SocketSink:
    """A socket, told with each send not to wait."""

    __slots__ = ("_socket", "descriptor", "hangup_is_readable", "pollable")

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self.descriptor = descriptor
        self.pollable = True
        self.hangup_is_readable = False

    def write(self, buffers: Sequence[Buffer]) -> int:
        if len(buffers) == 1:
            return self._socket.send(buffers[0], socket.MSG_DONTWAIT)
        return self._socket.sendmsg(buffers, [], socket.MSG_DONTWAIT)

    def is_drained(self) -> bool | None:
        # What FIONREAD counts here is what we have not read.
        return _is_zero(self.descriptor, termios.TIOCOUTQ)

    def close(self) -> None:
        self._socket.close()

    def end(self) -> None:
        with contextlib.suppress(OSError):  # the reader may be gone already
            self._socket.shutdown(socket.SHUT_WR)
        self._socket.close()
