"""The wire: one order for both directions, lines cut anywhere, and nothing illegal that is not meant."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from acp_agent.harness.wire import IllegalMove, Wire
from acp_agent.transport.trace import TraceWriter


class Pipe:
    """A Port that keeps writes apart, and lets a test act while the client reads."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False
        self.on_fetched: Any = lambda: None

    def post(self, data: bytes) -> None:
        self.writes.append(data)

    async def flushed(self) -> None: ...

    async def fetched(self) -> None:
        self.on_fetched()

    def close_output(self) -> None:
        self.closed = True


def line(**message: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n"


HELLO = line(id=0, method="initialize", params={"protocolVersion": 1})


def test_bytes_become_lines_wherever_they_are_cut() -> None:
    """Each with its number, and an unfinished one at the end is a line as well."""
    for cut in range(1, len(HELLO)):
        wire = Wire(Pipe())
        heard = [*wire.feed(HELLO[:cut]), *wire.feed(HELLO[cut:]), *wire.feed(b"{"), *wire.feed(b"")]
        assert [one.number for one in heard] == [0, 1]
        assert wire.client_ended
        assert [entry.label for entry in wire.transcript][-1] == "the client closes its output"


def test_both_directions_are_numbered_in_one_order_with_their_times() -> None:
    """The transcript tells who came first."""
    clock = iter(range(100))
    wire = Wire(Pipe(), clock=lambda: float(next(clock)))
    for _ in wire.feed(HELLO):
        pass
    answered = wire.send({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}})
    remarked = wire.remark("something happens")
    entries = list(wire.transcript)
    assert (answered, remarked) == (1, 2)
    assert [(entry.sender, entry.label) for entry in entries] == [
        ("client", "initialize"),
        ("agent", "result of initialize"),
        ("harness", "something happens"),
    ]
    times = [entry.t for entry in entries]
    assert times == sorted(times)
    assert times[0] > 0


def test_an_illegal_message_is_not_written_unless_it_is_on_purpose() -> None:
    """A script's mistake must not reach the client."""
    pipe = Pipe()
    wire = Wire(pipe)
    message = {"jsonrpc": "2.0", "id": 99, "result": {}}
    with pytest.raises(IllegalMove, match="the agent's next message would be illegal"):
        wire.send(message)
    assert (pipe.writes, list(wire.transcript)) == ([], [])
    wire.send(message, on_purpose=True)
    assert pipe.writes == [line(id=99, result={})]


def test_a_line_in_pieces_is_not_broken_into_by_another() -> None:
    """What is sent while the client reads the pieces follows the line."""

    async def play() -> list[bytes]:
        pipe = Pipe()
        wire = Wire(pipe)
        pipe.on_fetched = lambda: wire.send_line(b"between\n") if len(pipe.writes) == 1 else None
        await wire.send_in_pieces(b"abcdef\n", [2, 0, 3])
        return pipe.writes

    writes = asyncio.run(play())
    assert b"".join(writes) == b"abcdef\nbetween\n"
    assert writes[:3] == [b"ab", b"", b"cde"]


def test_pieces_larger_than_the_line_are_the_line() -> None:
    """And an endless list of sizes ends with it."""

    async def play() -> list[bytes]:
        pipe = Pipe()
        await Wire(pipe).send_in_pieces(b"abc\n", iter([1, 100, 1, 1]))
        return pipe.writes

    assert asyncio.run(play()) == [b"a", b"bc\n"]


def test_a_closed_output_takes_nothing_more() -> None:
    """It is closed once; the transcript still tells what was tried."""
    pipe = Pipe()
    wire = Wire(pipe)
    wire.close_output()
    wire.close_output()
    wire.send_line(b"lost\n")
    assert (pipe.closed, pipe.writes) == (True, [])
    assert [entry.sender for entry in wire.transcript] == ["harness", "agent"]


def test_ids_of_requests_are_never_given_twice() -> None:
    """Unless a script chooses one."""
    wire = Wire(Pipe())
    ids = [wire.next_request_id() for _ in range(50)]
    assert len(set(ids)) == 50


def test_the_trace_has_the_bytes_of_both_directions_as_they_were(tmp_path: Path) -> None:
    """Also those that are no message."""
    path = tmp_path / "trace.jsonl"
    with TraceWriter(path, {"agent": "test"}) as trace:
        wire = Wire(Pipe(), trace=trace)
        for _ in wire.feed(b"no "):
            pass
        for _ in wire.feed(b"message\n"):
            pass
        wire.send_line(b"nor this\n")
    records = [orjson.loads(record) for record in path.read_bytes().splitlines()][1:]
    told = [(record["dir"], record["text"]) for record in records]
    assert "".join(text for direction, text in told if direction == "C>A") == "no message\n"
    assert told[-1] == ("A>C", "nor this\n")
