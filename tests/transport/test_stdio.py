"""The transport on a running loop, over every kind of descriptor a client may start us with."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
import subprocess
import sys
import tty
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from acp_agent.transport.outbox import Outbox
from acp_agent.transport.stdio import READ_BYTES, Descriptors, StdioTransport

WAIT_S = 20.0


class Stream:
    """A transport with what it was told, and ways to wait for more."""

    def __init__(self, stdin: int, stdout: int, limit_bytes: int = 1 << 20) -> None:
        self.received = bytearray()
        self.slices: list[int] = []
        self.write_closed = 0
        self.on_slice: Callable[[bytes], None] = lambda data: None
        self._changed = asyncio.Event()
        self.outbox = Outbox(limit_bytes)
        self.transport = StdioTransport(
            Descriptors(stdin, stdout), self.outbox, self._on_bytes, self._on_write_closed
        )

    def _on_bytes(self, data: bytes) -> None:
        self.received += data
        self.slices.append(len(data))
        self._changed.set()
        self.on_slice(data)

    def _on_write_closed(self) -> None:
        self.write_closed += 1
        self._changed.set()

    @property
    def at_end(self) -> bool:
        return bool(self.slices) and not self.slices[-1]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def null_input() -> int:
    return os.open(os.devnull, os.O_RDONLY)


def null_output() -> int:
    return os.open(os.devnull, os.O_WRONLY)


async def pass_the_loop(times: int = 5) -> None:
    """Let everything run that is ready, without waiting for time to go by."""
    for _ in range(times):
        await asyncio.sleep(0)


async def read_exactly(descriptor: int, count: int) -> bytes:
    """Read from a pipe or terminal in a thread, as another process would."""

    def read() -> bytes:
        got = bytearray()
        while len(got) < count:
            data = os.read(descriptor, 1 << 20)
            if not data:
                break
            got += data
        return bytes(got)

    return await asyncio.wait_for(asyncio.to_thread(read), WAIT_S)


# Input of every kind


def test_input_from_a_pipe_arrives_whole_and_ends_once() -> None:
    """More than a pipe holds, then the end of input as one empty slice."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        stream = Stream(read_end, null_output())
        stream.transport.start()
        sent = bytes(range(256)) * 4096

        def write() -> None:
            with os.fdopen(write_end, "wb") as pipe:
                pipe.write(sent)

        await asyncio.to_thread(write)
        await stream.until(lambda: stream.at_end)
        await pass_the_loop()
        assert stream.received == sent
        assert stream.slices.count(0) == 1
        await stream.transport.finish(1)

    run(scenario)


def test_input_and_output_may_be_one_socket() -> None:
    """Some clients give a socket pair instead of two pipes."""

    async def scenario() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            stream = Stream(os.dup(ours.fileno()), ours.detach())
            stream.transport.start()
            theirs.sendall(b"question\n")
            await stream.until(lambda: stream.received == b"question\n")
            stream.outbox.post(b"answer\n")
            await stream.outbox.flushed()
            assert theirs.recv(100) == b"answer\n"
            theirs.shutdown(socket.SHUT_WR)
            await stream.until(lambda: stream.at_end)
            await stream.transport.finish(1)

    run(scenario)


def test_input_and_output_may_be_a_terminal() -> None:
    """A person may type messages; the terminal that goes away is the end of input, not a crash."""

    async def scenario() -> None:
        master, slave = pty.openpty()
        tty.setraw(slave)
        stream = Stream(os.dup(slave), os.dup(slave))
        stream.transport.start()
        os.write(master, b"typed\n")
        await stream.until(lambda: stream.received == b"typed\n")
        stream.outbox.post(b"shown\n")
        await stream.outbox.flushed()
        assert await read_exactly(master, 6) == b"shown\n"
        assert os.get_blocking(slave)
        os.close(slave)
        os.close(master)
        await stream.until(lambda: stream.at_end)
        await stream.transport.finish(1)

    run(scenario)


def test_input_from_a_file_comes_in_slices_that_let_others_run(tmp_path: Path) -> None:
    """A poll refuses regular files; a large one must still not hold the loop until its end."""

    async def scenario() -> None:
        path = tmp_path / "in"
        sent = os.urandom(3 * READ_BYTES + 17)
        path.write_bytes(sent)
        stream = Stream(os.open(path, os.O_RDONLY), null_output())
        seen_between: list[int] = []
        stream.on_slice = lambda data: (
            asyncio.get_running_loop().call_soon(seen_between.append, len(stream.slices)) and None
        )
        stream.transport.start()
        await stream.until(lambda: stream.at_end)
        await pass_the_loop()
        assert stream.received == sent
        assert stream.slices == [READ_BYTES] * 3 + [17, 0]
        assert seen_between == [1, 2, 3, 4, 5]
        await stream.transport.finish(1)

    run(scenario)


def test_input_from_the_null_device_is_an_end_of_input() -> None:
    """`acp-agent serve < /dev/null` ends instead of failing on epoll."""

    async def scenario() -> None:
        stream = Stream(null_input(), null_output())
        stream.transport.start()
        await stream.until(lambda: stream.at_end)
        assert stream.slices == [0]
        await stream.transport.finish(1)

    run(scenario)


def test_a_non_blocking_input_that_is_empty_after_all_is_read_later() -> None:
    """Some parents leave O_NONBLOCK on the description they share; an empty read is no end."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        stream = Stream(read_end, null_output())
        stream.transport._read()
        assert stream.slices == []
        stream.transport.start()
        os.write(write_end, b"later")
        os.close(write_end)
        await stream.until(lambda: stream.at_end)
        assert stream.received == b"later"
        await stream.transport.finish(1)

    run(scenario)


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_paused_input_waits_and_nothing_of_it_is_lost(kind: str, tmp_path: Path) -> None:
    """The owner may stop the reading for a while."""

    async def scenario() -> None:
        if kind == "pipe":
            read_end, write_end = os.pipe()
            os.write(write_end, b"abc")
            os.close(write_end)
        else:
            (tmp_path / "in").write_bytes(b"abc")
            read_end = os.open(tmp_path / "in", os.O_RDONLY)
        stream = Stream(read_end, null_output())
        stream.transport.pause_reading()
        stream.transport.start()
        await pass_the_loop()
        assert stream.slices == []
        stream.transport.resume_reading()
        stream.transport.pause_reading()
        stream.transport.resume_reading()
        await stream.until(lambda: stream.at_end)
        assert stream.received == b"abc"
        await stream.transport.finish(1)

    run(scenario)


# Output


def test_everything_posted_in_one_pass_goes_out_in_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """One write for all that is pending, however many messages it is."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        stream = Stream(null_input(), write_end)
        writes: list[int] = []
        real_write = stream.transport._sink.write

        def counted(buffers: Any) -> int:
            count = real_write(buffers)
            writes.append(count)
            return count

        monkeypatch.setattr(type(stream.transport._sink), "write", lambda self, buffers: counted(buffers))
        stream.outbox.post(b"0\n")
        stream.transport.start()
        for number in range(1, 10):
            stream.outbox.post(b"%d\n" % number)
        await pass_the_loop()
        assert writes == [20]
        assert os.read(read_end, 100) == b"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
        await stream.transport.finish(1)
        os.close(read_end)

    run(scenario)


@pytest.mark.parametrize("kind", ["pipe", "socket", "terminal"])
def test_a_stalled_reader_gets_everything_in_order_once_it_reads(kind: str) -> None:
    """Partial writes at any place; nothing lost, nothing twice, order kept; the producer waits at the limit."""

    async def scenario() -> None:
        if kind == "pipe":
            theirs, ours = os.pipe()
        elif kind == "socket":
            one, other = socket.socketpair()
            theirs, ours = one.detach(), other.detach()
        else:
            theirs, ours = pty.openpty()
            tty.setraw(ours)
        limit = 300_000
        stream = Stream(null_input(), ours, limit)
        stream.transport.start()
        lines = [b"%06d:" % number + b"x" * (number * 37 % 300) + b"\n" for number in range(8000)]
        lines[4000] = b"L" * 400_000 + b"\n"
        most = 0

        async def produce() -> None:
            nonlocal most
            for line in lines:
                stream.outbox.post(line)
                most = max(most, stream.outbox.pending_bytes)
                if stream.outbox.above_flush_mark:
                    await stream.outbox.drain()

        producer = asyncio.create_task(produce())
        await pass_the_loop(50)
        assert not producer.done()
        assert stream.outbox.pending_bytes > limit, "it waits at the limit while nobody reads"
        expected = b"".join(lines)
        got = await read_exactly(theirs, len(expected))
        await producer
        assert got == expected
        assert most <= limit + len(lines[4000]) + 400
        assert await stream.transport.finish(1)
        os.close(theirs)

    run(scenario)


def test_input_is_still_read_while_the_output_is_stalled() -> None:
    """A cancel must be read although the client does not read at that moment, even behind a huge message."""

    async def scenario() -> None:
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        stream = Stream(in_read, out_write, 100_000)
        stream.transport.start()
        stream.outbox.post(b"x" * 5_000_000)
        stalled = asyncio.create_task(stream.outbox.drain())
        await pass_the_loop()
        assert not stalled.done()
        os.write(in_write, b"cancel\n")
        await stream.until(lambda: stream.received == b"cancel\n")
        stalled.cancel()
        os.close(in_write)
        assert not await stream.transport.finish(0), "what could not be written is reported"
        os.close(out_read)

    run(scenario)


def test_a_flood_of_unread_answers_stops_the_reading_until_they_are_read() -> None:
    """A peer that asks and asks and never reads costs bounded memory, and loses no answer once it reads."""

    async def scenario() -> None:
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        limit = 50_000
        stream = Stream(in_read, out_write, limit)
        answer = b"a" * 1000
        stream.on_slice = lambda data: [stream.outbox.post(answer) for _ in range(data.count(b"q"))] and None
        stream.transport.start()
        questions = 3000

        def ask() -> None:
            with os.fdopen(in_write, "wb", buffering=0) as pipe:
                for _ in range(questions):
                    pipe.write(b"q" + b" " * 999)

        asking = asyncio.create_task(asyncio.to_thread(ask))
        await stream.until(lambda: stream.outbox.flooded)
        await pass_the_loop(20)
        answered = stream.received.count(b"q")
        assert answered < questions
        assert stream.outbox.pending_bytes < 2 * limit + READ_BYTES + 2000
        stream.transport.resume_reading()
        await pass_the_loop(20)
        assert stream.received.count(b"q") == answered, "only the reading of answers ends a flood"
        assert len(await read_exactly(out_read, questions * 1000)) == questions * 1000
        await asking
        await stream.transport.finish(1)
        os.close(out_read)

    run(scenario)


def test_the_kernel_is_not_asked_again_for_every_chunk_while_it_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """flush_now on a stalled pipe costs a comparison, not a system call, until a flush mark's worth has come."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        stream = Stream(null_input(), write_end)
        stream.transport.start()
        stream.outbox.post(b"x" * 200_000)
        stream.transport.flush_now()
        pending = stream.outbox.pending_bytes
        assert 0 < pending < 200_000
        os.read(read_end, 1 << 20)
        for _ in range(1000):
            stream.outbox.post(b"y" * 10)
            stream.transport.flush_now()
        assert stream.outbox.pending_bytes == pending + 10_000
        stream.outbox.post(b"z" * 60_000)
        stream.transport.flush_now()
        assert stream.outbox.pending_bytes < pending + 10_000
        await stream.transport.finish(0)
        os.close(read_end)

    run(scenario)


def test_output_to_a_file_is_complete(tmp_path: Path) -> None:
    """`acp-agent serve < in > out` works, as it does when a bug report is replayed."""

    async def scenario() -> None:
        path = tmp_path / "out"
        stream = Stream(null_input(), os.open(path, os.O_WRONLY | os.O_CREAT), limit_bytes=1000)
        stream.transport.start()
        for number in range(20_000):
            stream.outbox.post(b"%d\n" % number)
            await stream.outbox.drain()
        assert await stream.transport.finish(1)
        assert path.read_bytes() == b"".join(b"%d\n" % number for number in range(20_000))

    run(scenario)


# The reader goes away


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_is_gone_is_told_once_and_frees_what_was_pending(kind: str) -> None:
    """EPIPE closes the outbox, releases who waits, and never reaches the producer as an exception."""

    async def scenario() -> None:
        if kind == "pipe":
            theirs, ours = os.pipe()
        else:
            one, other = socket.socketpair()
            theirs, ours = one.detach(), other.detach()
        in_read, in_write = os.pipe()
        stream = Stream(in_read, ours, 1000)
        stream.transport.start()
        stream.outbox.post(b"x" * 1_000_000)
        waiting = asyncio.create_task(stream.outbox.drain())
        await pass_the_loop()
        assert not waiting.done()
        os.close(theirs)
        await waiting
        await stream.until(lambda: bool(stream.write_closed))
        assert stream.outbox.closed
        assert isinstance(stream.transport.write_error, ConnectionError)
        stream.outbox.post(b"more")
        stream.transport.flush_now()
        await pass_the_loop()
        assert stream.write_closed == 1
        os.write(in_write, b"still read")
        await stream.until(lambda: stream.received == b"still read")
        assert not await stream.transport.finish(1)
        os.close(in_write)

    run(scenario)


def test_the_loss_of_a_pipe_reader_is_noticed_without_a_write() -> None:
    """During a long silent command the client may close its end: the turn must not run on for nobody."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        in_read, in_write = os.pipe()
        stream = Stream(in_read, write_end)
        stream.transport.start()
        await pass_the_loop()
        assert not stream.write_closed
        os.close(read_end)
        await stream.until(lambda: bool(stream.write_closed))
        await stream.transport.finish(1)
        os.close(in_write)

    run(scenario)


def test_a_full_disk_counts_as_a_reader_that_is_gone() -> None:
    """Any error of a write ends the output with its reason kept, not only EPIPE."""

    async def scenario() -> None:
        stream = Stream(null_input(), os.open("/dev/full", os.O_WRONLY))
        stream.transport.start()
        stream.outbox.post(b"x")
        await stream.until(lambda: bool(stream.write_closed))
        assert "No space" in str(stream.transport.write_error)
        await stream.transport.finish(1)

    run(scenario)


# The end


def test_finish_writes_what_is_pending_and_closes_both_descriptors() -> None:
    """Nothing that was posted before an orderly end is lost, and the client sees the end of the stream."""

    async def scenario() -> None:
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        stream = Stream(in_read, out_write)
        stream.transport.start()
        stream.outbox.post(b"x" * 500_000)
        reading = asyncio.create_task(read_exactly(out_read, 1 << 30))
        assert await stream.transport.finish(WAIT_S)
        assert await reading == b"x" * 500_000
        assert await stream.transport.finish(WAIT_S), "a second call does nothing"
        with pytest.raises(BrokenPipeError):
            os.write(in_write, b"nobody reads this")
        os.close(in_write)
        os.close(out_read)

    run(scenario)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_closed_output_ends_for_the_reader_while_the_input_is_read_on(kind: str) -> None:
    """What was posted before arrives, what is posted later is dropped, and the peer is still heard."""

    async def scenario() -> None:
        if kind == "pipe":
            stdin, their_out = os.pipe()
            their_in, stdout = os.pipe()
        else:
            ours, theirs = socket.socketpair()
            their_in = theirs.detach()
            their_out = os.dup(their_in)
            stdin, stdout = os.dup(ours.fileno()), ours.detach()
        stream = Stream(stdin, stdout)
        stream.transport.start()
        stream.outbox.post(b"before")
        stream.transport.close_output()
        stream.outbox.post(b"after")
        assert await read_exactly(their_in, 1 << 20) == b"before"
        os.write(their_out, b"still here")
        await stream.until(lambda: stream.received == b"still here")
        assert (stream.outbox.dropped_bytes, stream.write_closed) == (5, 0)
        assert stream.transport.peer_has_read() is None
        stream.transport.close_output()
        assert not await stream.transport.finish(WAIT_S), "something was dropped"
        os.close(their_in)
        os.close(their_out)

    run(scenario)


def test_a_flood_that_nobody_will_read_does_not_stop_the_reading_of_a_closed_output() -> None:
    """The pause waits for answers to be read; once they are dropped there is nothing to wait for."""

    async def scenario() -> None:
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        stream = Stream(in_read, out_write, limit_bytes=1000)

        def answer(data: bytes) -> None:
            for _ in range(1000 if data else 0):
                stream.outbox.post(b"y" * 1000)

        stream.on_slice = answer
        stream.transport.start()
        os.write(in_write, b"first")
        await stream.until(lambda: stream.outbox.flooded)
        stream.transport.close_output()
        os.write(in_write, b" second")
        await stream.until(lambda: stream.received == b"first second")
        os.close(in_write)
        await stream.until(lambda: stream.at_end)
        await stream.transport.finish(WAIT_S)
        os.close(out_read)

    run(scenario)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_it_is_known_whether_the_reader_has_read(kind: str) -> None:
    """So that a next slice is written only when the last one has been read; what it has sent us does not count."""

    async def scenario() -> None:
        if kind == "pipe":
            their_in, stdout = os.pipe()
        else:
            ours, theirs = socket.socketpair()
            their_in, stdout = theirs.detach(), ours.detach()
            os.write(their_in, b"a question nobody has read yet")
        stream = Stream(null_input(), stdout)
        stream.transport.start()
        stream.outbox.post(b"12345")
        await stream.outbox.flushed()
        assert stream.transport.peer_has_read() is False
        assert os.read(their_in, 3) == b"123"
        assert stream.transport.peer_has_read() is False
        assert os.read(their_in, 3) == b"45"
        assert stream.transport.peer_has_read() is True
        await stream.transport.finish(WAIT_S)
        os.close(their_in)

    run(scenario)


def test_finish_before_start_closes_what_it_was_given() -> None:
    """A start-up that fails after the take-over still ends in order."""

    async def scenario() -> None:
        out_read, out_write = os.pipe()
        stream = Stream(null_input(), out_write)
        stream.outbox.post(b"last words\n")
        assert await stream.transport.finish(WAIT_S)
        assert os.read(out_read, 100) == b"last words\n"
        assert os.read(out_read, 100) == b""
        os.close(out_read)

    run(scenario)


# take_over, in a process of its own

PROGRAM = """
import ctypes, os, subprocess, sys
print("printed before")  # and still in the buffer
from acp_agent.transport.stdio import take_over
descriptors = take_over()
print("printed after")
os.write(1, b"written to 1\\n")
ctypes.CDLL(None).puts(b"put by a library")
ctypes.CDLL(None).fflush(None)
subprocess.run(["echo", "said by a child"])
child = subprocess.run(
    ["sh", "-c", "cat; ls -l /proc/self/fd"], stdout=subprocess.PIPE, text=True, close_fds=False
)
assert os.read(descriptors.stdin, 100) == b"input"
os.write(descriptors.stdout, b"wire\\n")
print(min(descriptors.stdin, descriptors.stdout) > 2, [os.get_inheritable(fd) for fd in (0, 1, 2)])
print(os.get_inheritable(descriptors.stdin), os.get_inheritable(descriptors.stdout), child.stdout.count("pipe:"))
"""


def test_only_the_protocol_reaches_the_wire_and_children_inherit_none_of_it() -> None:
    """R-005: no print of ours, of a library or of a child is on stdout; a child reads and holds nothing of ours."""
    done = subprocess.run(
        [sys.executable, "-E", "-c", PROGRAM], input=b"input", capture_output=True, timeout=WAIT_S, check=True
    )
    assert done.stdout == b"wire\n"
    said = done.stderr.decode()
    for line in ("printed before", "printed after", "written to 1", "put by a library", "said by a child"):
        assert line in said
    # The child's own stdout and stderr are the two pipes it has: neither of the protocol's is among them.
    assert said.endswith("True [True, True, True]\nFalse False 2\n")


@pytest.mark.parametrize(
    ("redirection", "wire", "noise"),
    [
        ("<&-", b"read b''\n", b"noise\n"),
        ("2>&-", b"read b'in'\n", b""),
        (">&-", b"", b"NoStandardOutputError: standard output is closed: there is nobody to answer to\n"),
    ],
)
def test_a_closed_standard_stream_has_a_meaning(redirection: str, wire: bytes, noise: bytes) -> None:
    """Closed input is an empty one, closed errors are lost, closed output is refused in one sentence."""
    program = (
        "import os, sys\n"
        "from acp_agent.transport.stdio import NoStandardOutputError, take_over\n"
        "try: d = take_over()\n"
        "except NoStandardOutputError as e: sys.exit(f'NoStandardOutputError: {e}')\n"
        "os.write(1, b'noise\\n')\n"
        "os.write(d.stdout, b'read %r\\n' % os.read(d.stdin, 10))\n"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {redirection}', sys.executable, program],
        input=b"in",
        capture_output=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.stdout, done.stderr) == (wire, noise)
