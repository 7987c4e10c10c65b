"""An observer of both sides: it answers nothing, follows everything, and finds what the two of them would find."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation, RequestReceived, ResponseReceived, StreamEnded
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy

AGENT, CLIENT = Side.AGENT, Side.CLIENT
INITIALIZE = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def see(observer: Connection, side: Side, message: Any) -> list[Event]:
    return observer.observe(side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def findings(events: list[Event]) -> list[tuple[str, str]]:
    return [(e.verdict.severity, e.verdict.reason) for e in events if isinstance(e, ProtocolViolation)]


@pytest.mark.parametrize("side", [AGENT, CLIENT])
@pytest.mark.parametrize(
    "line", [b"nonsense", b"[]", b"5", b"{}", b'{"jsonrpc":"2.0","id":[],"method":"m"}', b"x" * 200]
)
def test_an_unreadable_line_is_reported_and_not_answered(side: Side, line: bytes) -> None:
    """From whichever side; the next line is read."""
    observer = Connection(Role.OBSERVER, max_line_bytes=100)
    (event,) = observer.observe(side, line + b"\n")
    assert isinstance(event, ProtocolViolation)
    assert event.reply is None
    assert observer.observe(side, b"\n") == []


def test_the_two_streams_are_cut_apart() -> None:
    """A half line of one side does not meet the other's."""
    observer = Connection(Role.OBSERVER)
    line = json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode() + b"\n"
    assert observer.observe(CLIENT, line[:20]) == []
    assert [type(event) for event in observer.observe(AGENT, b"half a line")] == []
    assert [type(event) for event in observer.observe(CLIENT, line[20:])] == [RequestReceived]


def test_a_refused_request_is_given_after_its_finding_and_its_error_is_no_finding() -> None:
    """The observer expects the error."""
    observer = Connection(Role.OBSERVER)
    events = see(
        observer, CLIENT, {"id": 7, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}
    )
    assert [type(event) for event in events] == [ProtocolViolation, RequestReceived]
    assert findings(events) == [("violation", "not_initialised")]
    events = see(observer, AGENT, {"id": 7, "error": {"code": -32600, "message": "m"}})
    assert [type(event) for event in events] == [ResponseReceived]
    assert observer.state is ConnectionState.UNINITIALISED


def test_each_stream_ends_on_its_own_and_once() -> None:
    """The first end closes; the other side may finish, then ends too."""
    observer = Connection(Role.OBSERVER)
    see(observer, CLIENT, INITIALIZE)
    see(observer, AGENT, {"id": 0, "result": {"protocolVersion": 1}})
    see(observer, CLIENT, {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}})
    assert observer.observe(CLIENT, b"") == [StreamEnded(())]
    assert observer.state is ConnectionState.CLOSING
    assert findings(see(observer, AGENT, {"id": 1, "result": {"sessionId": "s"}})) == []
    assert observer.observe(AGENT, b"") == [StreamEnded(())]
    with pytest.raises(LocalProtocolError):
        observer.observe(AGENT, b"{}\n")


def test_the_end_of_a_stream_names_what_it_leaves_unanswered() -> None:
    """R-016: for the side that has ended."""
    observer = Connection(Role.OBSERVER)
    see(observer, CLIENT, INITIALIZE)
    assert observer.observe(AGENT, b"") == [StreamEnded((0,))]


LOG: list[tuple[Side, dict[str, Any]]] = [
    (CLIENT, {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}),
    (CLIENT, {"id": 1, "method": "session/list", "params": {}}),
    (AGENT, {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "zz"}}}),
    (AGENT, {"method": "session/prompt", "params": {}}),
    (AGENT, {"id": 5, "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "t"}}),
    (CLIENT, {"id": 9, "result": {}}),
    (AGENT, {"id": 1, "result": {"stopReason": "cancelled"}}),
    (AGENT, {"id": 1, "result": {"stopReason": "end_turn"}}),
    (
        AGENT,
        {
            "id": 6,
            "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []},
        },
    ),
    (CLIENT, {"id": 2, "method": "session/prompt", "params": {"sessionId": "gone", "prompt": []}}),
    (CLIENT, {"id": 3, "method": "initialize", "params": {"protocolVersion": 1}}),
    (CLIENT, {"method": "session/cancel", "params": {"sessionId": 5}}),
    (CLIENT, {"id": 4, "method": "session/load", "params": {"sessionId": "s"}}),
]


def test_the_same_log_gives_the_same_verdicts_to_every_role() -> None:
    """Section 7: what a receiver finds, the observer finds too, line by line."""
    client_capabilities = {"terminal": True}
    ends = {AGENT: Connection(Role.AGENT), CLIENT: Connection(Role.CLIENT)}
    observer = Connection(Role.OBSERVER)

    def carry(side: Side, line: bytes) -> tuple[list[Event], list[Event]]:
        return ends[CLIENT if side is AGENT else AGENT].receive(line), observer.observe(side, line)

    def do(method: str, params: dict[str, Any], result: dict[str, Any]) -> None:
        id_, line = ends[CLIENT].request(method, params)
        carry(CLIENT, line)
        carry(AGENT, ends[AGENT].respond(id_, result))

    do(
        "initialize",
        {"protocolVersion": 1, "clientCapabilities": client_capabilities},
        {"protocolVersion": 1},
    )
    ends[CLIENT]._next_id = 0
    do("session/new", {"cwd": "/w", "mcpServers": []}, {"sessionId": "s"})
    ends[CLIENT].request("session/prompt", {"sessionId": "s", "prompt": []})
    told = []
    for side, message in LOG:
        received, seen = carry(side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        assert findings(received) == findings(seen), message
        told += findings(seen)
    assert told == [
        ("violation", "duplicate_id"),
        ("violation", "params_invalid"),
        ("violation", "request_as_notification"),
        ("violation", "terminal_unknown"),
        ("violation", "response_unknown_id"),
        ("inferred", "stop_reason_unasked"),
        ("violation", "response_duplicate"),
        ("inferred", "no_active_turn"),
        ("violation", "session_unknown"),
        ("violation", "already_initialised"),
        ("violation", "params_invalid"),
        ("violation", "capability_missing"),
    ]


def test_a_policy_is_the_observers_too() -> None:
    """Who watches an agent that queues prompts says so."""
    for policy, expected in ((Policy(), [("inferred", "turn_active")]), (Policy(queue_prompts=True), [])):
        observer = Connection(Role.OBSERVER, policy)
        see(observer, CLIENT, INITIALIZE)
        see(observer, AGENT, {"id": 0, "result": {"protocolVersion": 1}})
        see(observer, CLIENT, {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}})
        see(observer, AGENT, {"id": 1, "result": {"sessionId": "s"}})
        prompt = {"method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}
        see(observer, CLIENT, {"id": 2, **prompt})
        assert findings(see(observer, CLIENT, {"id": 3, **prompt})) == expected


@pytest.mark.parametrize(
    ("line", "id_"),
    [(b"nonsense", "null"), (b"[]", "null"), (b'{"jsonrpc":"1.0","id":"x","method":"initialize"}', '"x"')],
)
def test_the_error_for_a_line_that_is_no_message_is_no_answer_to_nobody(line: bytes, id_: str) -> None:
    """One for each such line, from the other side only; whatever comes beyond that is a finding."""
    observer = Connection(Role.OBSERVER)
    observer.observe(Side.CLIENT, line + b"\n")
    error = b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32600,"message":"m"}}\n' % id_.encode()
    assert [event.verdict.reason for event in observer.observe(Side.CLIENT, error)] == ["response_unknown_id"]
    assert observer.observe(Side.AGENT, error) == []
    assert [event.verdict.reason for event in observer.observe(Side.AGENT, error)] == ["response_unknown_id"]
