"""Whatever a client sends, a scenario ends, blames nobody by a crash, and keeps its memory."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.harness.catalogue import select
from acp_agent.harness.part import Part, PartFile, read_parts
from acp_agent.harness.play import Performance
from acp_agent.harness.result import ClientExit, judge
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire
from acp_agent.jsonrpc import codec

SCENARIOS = [
    "forward/unknown-update",
    "permission/three-at-once",
    "handshake/first-turn",
    "cancel/before-anything",
]
ENDS_S = 20.0

CONVERSATION: list[dict[str, Any]] = [
    {
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {"terminal": True}},
    },
    {"id": 1, "method": "session/new", "params": {"cwd": "/project", "mcpServers": []}},
    {
        "id": 2,
        "method": "session/prompt",
        "params": {"sessionId": "session-1", "prompt": [{"type": "text", "text": "Hello."}]},
    },
    {"id": 501, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}},
    {"id": 502, "error": {"code": -32601, "message": "Method not found"}},
    {"method": "session/cancel", "params": {"sessionId": "session-1"}},
    {"method": "$/cancel_request", "params": {"requestId": 2}},
    {"id": "x", "method": "_other.org/what", "params": None},
]


class Sent:
    """A Port that keeps lines."""

    def __init__(self) -> None:
        self.data = bytearray()

    def post(self, data: bytes) -> None:
        self.data += data

    async def flushed(self) -> None:
        await asyncio.sleep(0)

    async def fetched(self) -> None:
        await asyncio.sleep(0)

    def close_output(self) -> None: ...


async def perform(scenario: str, slices: list[bytes]) -> tuple[Performance, Sent]:
    """Play with these bytes of a client that then goes away."""
    port = Sent()
    wire = Wire(port)
    (chosen,) = select([scenario])
    performance = Performance(chosen, wire, StandIn(wire, chosen.offer))
    script = asyncio.create_task(performance.play())
    for data in slices:
        performance.feed(data)
        await asyncio.sleep(0)
    performance.feed(b"")
    await asyncio.wait_for(script, ENDS_S)
    return performance, port


def check_sound(performance: Performance, port: Sent) -> Part:
    """No fault of ours, nothing but lines on the wire, and a part that can be judged."""
    part = performance.collect()
    assert part.error == ""
    assert part.over
    orjson.dumps(part.notes)
    result = judge(performance.stage.scenario, [part], ClientExit(0), None)
    assert result.errors == ()
    assert not port.data or port.data.endswith(b"\n")
    return part


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["session-1", "session/prompt", "2.0", "cancelled", "end_turn"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a message."""
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(copied[path[0]], path[1:], new)
    return copied


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """The legal one with messages dropped, doubled, moved and changed in any place, cut into slices anywhere."""
    messages = [{"jsonrpc": "2.0", **message} for message in CONVERSATION]
    order = draw(st.lists(st.sampled_from(range(len(messages))), max_size=12))
    lines = []
    for index in draw(st.sampled_from([order, sorted(order), list(range(len(messages)))])):
        message: Any = messages[index]
        if draw(st.integers(0, 2)) == 0:
            message = replaced(message, draw(st.sampled_from(places(message))), draw(JSON))
        try:
            line = orjson.dumps(message)
        except (TypeError, orjson.JSONEncodeError):
            line = b'{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"x"}'
        lines.append(line + draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"", b"\n\n", b"\xff\n"])))
    stream = b"".join(lines)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=4)))
    edges = [0, *cuts, len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(edges) if a < b]


@given(st.sampled_from(SCENARIOS), conversations())
def test_no_conversation_breaks_a_scenario(scenario: str, slices: list[bytes]) -> None:
    """Mutated messages get further than noise: they reach the script."""
    check_sound(*asyncio.run(perform(scenario, slices)))


@given(st.sampled_from(SCENARIOS), st.lists(st.binary(min_size=1, max_size=200), max_size=6))
def test_no_bytes_break_a_scenario(scenario: str, slices: list[bytes]) -> None:
    """Noise of any kind."""
    check_sound(*asyncio.run(perform(scenario, slices)))


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}\n',
        b"garbage\n",
        b'{"jsonrpc":"2.0","id":501,"result":{}}\n',
        b'{"jsonrpc":"2.0","method":"nobody/knows","params":{"x":1}}\n',
    ],
)
def test_a_client_that_does_the_same_thing_for_ever_fills_no_memory(line: bytes) -> None:
    """Findings, remarks, answers and the transcript have limits; the verdict needs no more than the first."""
    performance, port = asyncio.run(perform("forward/unknown-update", [line * 200] * 100))
    part = check_sound(performance, port)
    assert len(part.checks) < 2000
    assert len(part.remarks) <= 200
    assert len(part.transcript) <= 3001
    assert len(orjson.dumps([entry.to_object() for entry in part.transcript])) < 7_000_000


def test_a_fault_of_ours_is_no_fault_of_the_client() -> None:
    """It is an error of the harness, and the client still gets its answers."""

    async def run() -> tuple[Performance, Sent]:
        port = Sent()
        wire = Wire(port)
        (chosen,) = select(["forward/unknown-update"])
        performance = Performance(chosen, wire, StandIn(wire, chosen.offer))

        def broken(heard: object) -> bool:
            raise RuntimeError("a bug of the harness")

        performance.stage.take = broken  # type: ignore[method-assign]
        for message in CONVERSATION[:2]:
            performance.feed(codec.encode({"jsonrpc": "2.0", **message}))
        performance.feed(b"")
        await performance.play()
        return performance, port

    performance, _ = asyncio.run(run())
    part = performance.collect()
    assert part.error == "the harness failed while a message was handled"
    result = judge(performance.stage.scenario, [part], ClientExit(0), None)
    assert (result.errors, result.failed_rules) == ((part.error,), ())


def test_a_client_that_leaves_before_it_has_begun_breaks_a_rule_only_if_it_never_comes_back() -> None:
    """Some look at an agent first, and start it again to use it."""
    performance, _ = asyncio.run(perform("forward/unknown-update", []))
    looked = performance.collect()
    scenario = performance.stage.scenario
    assert judge(scenario, [looked], ClientExit(0), None).failed_rules == ("R-303",)
    used = Part(scenario.id, 2, begun=True, over=True)
    assert judge(scenario, [looked, used], ClientExit(0), None).failed_rules == ()


def test_a_part_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    """The driver judges what the agent has written."""
    messages = [codec.encode({"jsonrpc": "2.0", **message}) for message in CONVERSATION]
    performance, _ = asyncio.run(perform("permission/three-at-once", messages))
    file = PartFile.claim(tmp_path)
    file.save(performance.collect())
    assert read_parts(tmp_path) == [performance.collect()]
    assert PartFile.claim(tmp_path).life == 2
    assert len(read_parts(tmp_path)) == 1, "claimed and never written is left out"


def test_a_script_that_waits_for_a_silent_client_ends_by_its_deadline() -> None:
    """Every wait has one; the scenario's own is the last resort."""

    async def run() -> Performance:
        port = Sent()
        wire = Wire(port)
        (chosen,) = select(["forward/unknown-update"])
        performance = Performance(replace(chosen, deadline_s=0.2), wire, StandIn(wire, chosen.offer))
        await asyncio.wait_for(performance.play(), ENDS_S)
        return performance

    started = time.monotonic()
    part = asyncio.run(run()).collect()
    assert part.reason == "the scenario was not over within 0.2 s"
    assert time.monotonic() - started < ENDS_S
