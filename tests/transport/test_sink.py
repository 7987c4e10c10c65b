"""Each kind of descriptor: writes never wait, and nobody who shares the description is disturbed."""

from __future__ import annotations

import os
import pty
import select
import socket
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_agent.transport import sink as sink_module
from acp_agent.transport.sink import Sink, open_sink

BLOCK = b"0123456789abcdef" * 1024


def fill(sink: Sink) -> bytes:
    """Write until the kernel takes no more; return what it took."""
    written = bytearray()
    while True:
        try:
            written += BLOCK[: sink.write([BLOCK])]
        except BlockingIOError:
            return bytes(written)
        assert len(written) < 64 << 20, "the kernel takes everything: the write must have waited for a reader"


def read_available(descriptor: int) -> bytes:
    got = bytearray()
    while select.select([descriptor], [], [], 0)[0]:
        data = os.read(descriptor, 1 << 20)
        if not data:
            break
        got += data
    return bytes(got)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read_end, write_end = os.pipe()
    shared = os.dup(write_end)
    yield read_end, write_end
    assert os.get_blocking(shared), "who shares the description finds it as it was"
    os.close(shared)
    os.close(read_end)


def test_a_full_pipe_says_so_instead_of_waiting(pipe: tuple[int, int]) -> None:
    """A stalled reader never blocks the loop."""
    read_end, write_end = pipe
    sink = open_sink(write_end)
    written = fill(sink)
    assert sink.pollable
    assert sink.hangup_is_readable
    assert read_available(read_end) == written
    sink.close()


def test_a_pipe_shared_with_others_stays_blocking_for_them(pipe: tuple[int, int]) -> None:
    """O_NONBLOCK is not set on a description that the parent or standard error may share."""
    _, write_end = pipe
    shared = os.dup(write_end)
    sink = open_sink(write_end)
    assert os.get_blocking(shared)
    os.close(shared)
    sink.close()


def test_without_proc_the_pipe_is_borrowed_and_given_back(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where no description of our own can be had, the shared one is restored at the close (the fixture looks)."""
    monkeypatch.setattr(sink_module, "_PROC_DESCRIPTORS", str(tmp_path))
    read_end, write_end = pipe
    sink = open_sink(write_end)
    written = fill(sink)
    assert read_available(read_end) == written
    sink.close()


def test_a_pipe_that_was_non_blocking_before_stays_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only what was changed is changed back."""
    monkeypatch.setattr(sink_module, "_PROC_DESCRIPTORS", str(tmp_path))
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    shared = os.dup(write_end)
    open_sink(write_end).close()
    assert not os.get_blocking(shared)
    os.close(shared)
    os.close(read_end)


def test_another_object_at_the_path_is_not_written_to(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A description of our own counts only if it leads to the same object."""
    read_end, write_end = pipe
    monkeypatch.setattr(sink_module, "_PROC_DESCRIPTORS", str(tmp_path))
    stranger = tmp_path / str(write_end)
    stranger.write_bytes(b"")
    sink = open_sink(write_end)
    sink.write([b"hello"])
    sink.close()
    assert stranger.read_bytes() == b""
    assert read_available(read_end) == b"hello"


def test_a_pipe_open_both_ways_does_not_promise_a_hangup(tmp_path: Path) -> None:
    """Its own data makes such a pipe readable, which must not be taken for the loss of the reader."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    both = os.open(fifo, os.O_RDWR)
    sink = open_sink(os.dup(both))
    assert not sink.hangup_is_readable
    sink.write([b"a", b"b"])
    assert read_available(both) == b"ab"
    sink.close()
    os.close(both)


def test_a_full_socket_says_so_and_stays_blocking_for_others() -> None:
    """A client may use a socket pair as both standard streams."""
    ours, theirs = socket.socketpair()
    with theirs:
        shared = os.dup(ours.fileno())
        sink = open_sink(ours.detach())
        written = fill(sink)
        assert os.get_blocking(shared)
        os.close(shared)
        got = bytearray()
        while len(got) < len(written):
            got += theirs.recv(1 << 20)
        assert bytes(got) == written
        assert sink.write([b"a", memoryview(b"bc")]) == 3
        assert theirs.recv(10) == b"abc"
        sink.close()


def test_a_full_terminal_says_so_and_stays_blocking_for_others() -> None:
    """A terminal's description is shared with the shell: it is left alone."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    sink = open_sink(os.dup(slave))
    written = fill(sink)
    assert written
    assert os.get_blocking(slave)
    got = bytearray()
    while len(got) < len(written):
        got += os.read(master, 1 << 16)
    assert bytes(got) == written
    sink.close()
    os.close(slave)
    os.close(master)


def test_the_controlling_side_of_a_terminal_gets_small_writes() -> None:
    """A multiplexer cannot be opened again; what it is told arrives at its own terminal."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    sink = open_sink(master)
    count = sink.write([b"x" * 100_000])
    assert 0 < count <= select.PIPE_BUF
    assert os.get_blocking(master)
    got = bytearray()
    while len(got) < count:
        got += os.read(slave, 1 << 16)
    assert bytes(got) == b"x" * count
    os.close(slave)
    sink.close()


def test_a_file_takes_everything(tmp_path: Path) -> None:
    """A regular file is written as it is and is not watched."""
    path = tmp_path / "out"
    sink = open_sink(os.open(path, os.O_WRONLY | os.O_CREAT))
    assert not sink.pollable
    assert sink.write([b"one\n"]) == 4
    assert sink.write([b"two\n", b"three\n"]) == 10
    sink.close()
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_the_null_device_takes_everything() -> None:
    """`acp-agent serve > /dev/null` runs."""
    sink = open_sink(os.open(os.devnull, os.O_WRONLY))
    assert not sink.pollable
    assert sink.write([BLOCK]) == len(BLOCK)
    sink.close()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_is_gone_is_an_error_and_not_a_wait(kind: str) -> None:
    """EPIPE or ECONNRESET reaches the transport, which decides."""
    if kind == "pipe":
        read_end, write_end = os.pipe()
        os.close(read_end)
    else:
        ours, theirs = socket.socketpair()
        theirs.close()
        write_end = ours.detach()
    sink = open_sink(write_end)
    with pytest.raises(ConnectionError):
        sink.write([b"anyone?"])
    sink.close()
