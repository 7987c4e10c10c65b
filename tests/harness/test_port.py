"""Descriptors as a Port: what is written arrives, what arrives is heard, and the end is heard once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator

import pytest

from acp_agent.harness.port import DescriptorPort
from acp_agent.transport.stdio import Descriptors

WAIT_S = 30.0


@pytest.fixture
def client() -> Iterator[tuple[socket.socket, Descriptors]]:
    """The client's end of a pair, and the agent's descriptors, which belong to the port."""
    theirs, ours = socket.socketpair()
    theirs.settimeout(WAIT_S)
    descriptors = Descriptors(ours.fileno(), socket.dup(ours.fileno()))
    ours.detach()
    with contextlib.closing(theirs):
        yield theirs, descriptors


async def until(condition: object) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # type: ignore[operator]  # noqa: ASYNC110 - a slice at a time
            await asyncio.sleep(0.001)


def test_bytes_go_both_ways_and_the_end_is_heard_once(client: tuple[socket.socket, Descriptors]) -> None:
    """The scenario sees b"" as the end of the client, whatever happens to the descriptors later."""
    theirs, descriptors = client

    async def play() -> list[bytes]:
        heard: list[bytes] = []
        port = DescriptorPort(descriptors, heard.append)
        port.post(b"hello ")
        port.post(b"client\n")
        await port.flushed()
        assert theirs.recv(100) == b"hello client\n"
        theirs.sendall(b"hello agent\n")
        await until(lambda: b"".join(heard) == b"hello agent\n")
        theirs.shutdown(socket.SHUT_WR)
        await until(lambda: heard[-1:] == [b""])
        theirs.close()
        port.post(b"to nobody\n")
        await port.flushed()
        await port.transport.finish(1.0)
        return heard

    heard = asyncio.run(play())
    assert heard.count(b"") == 1


def test_a_closed_output_is_the_end_for_the_client_and_reading_goes_on(
    client: tuple[socket.socket, Descriptors],
) -> None:
    """What was posted before comes first."""
    theirs, descriptors = client

    async def play() -> None:
        heard: list[bytes] = []
        port = DescriptorPort(descriptors, heard.append)
        port.post(b"last words\n")
        port.close_output()
        await port.flushed()
        loop = asyncio.get_running_loop()
        read = await loop.run_in_executor(None, lambda: theirs.makefile("rb").read())
        assert read == b"last words\n"
        theirs.sendall(b"still there\n")
        await until(lambda: heard == [b"still there\n"])
        await port.transport.finish(1.0)

    asyncio.run(play())


def test_a_client_that_reads_nothing_is_not_waited_for_long() -> None:
    """A piece is fetched when the pipe is empty; a busy client gets a moment and no more."""

    async def play() -> tuple[float, float]:
        reading, writing = os.pipe()
        own, other = os.pipe()
        port = DescriptorPort(Descriptors(own, writing), lambda data: None)
        loop = asyncio.get_running_loop()
        try:
            port.post(b"x")
            start = loop.time()
            async with asyncio.timeout(WAIT_S):
                await port.fetched()
            unread = loop.time() - start
            os.read(reading, 10)
            start = loop.time()
            await port.fetched()
            return unread, loop.time() - start
        finally:
            await port.transport.finish(1.0)
            os.close(reading)
            os.close(other)

    unread, read = asyncio.run(play())
    assert unread >= 0.05
    assert read < unread
