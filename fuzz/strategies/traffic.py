"""Conversations as the peers of a connection lead them: nearly legal, often enough legal, in few sessions and ids.

Owns a valid message of every method and the small changes to them; what a connection may make of any of it
(`well_formed`); and whole conversations as plain lists, made by leading them with a connection of that role.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from acp_agent.jsonrpc.codec import decode
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import Response, classify
from acp_agent.jsonrpc.pending import OpenCall
from acp_agent.protocol import schema
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.verdicts import REASONS

TEXT = {"type": "text", "text": "x"}
OPTION = {"id": "o", "name": "O", "type": "boolean", "currentValue": True}
MODES = {"currentModeId": "m", "availableModes": [{"id": "m", "name": "M"}]}
SETUP = {"modes": MODES, "configOptions": [OPTION]}
CLIENT_CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
}
AGENT_CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True},
    "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
    "auth": {"logout": {}},
}
INITIALIZE = {
    "protocolVersion": 1,
    "clientCapabilities": CLIENT_CAPABILITIES,
    "clientInfo": {"name": "c", "version": "1"},
}
INITIALIZED = {
    "protocolVersion": 1,
    "agentCapabilities": AGENT_CAPABILITIES,
    "authMethods": [{"id": "login", "name": "L"}],
}
SERVER = {"name": "n", "command": "/c", "args": [], "env": []}
CALL = {
    "toolCallId": "c",
    "title": "t",
    "content": [{"type": "diff", "path": "/f", "newText": ""}],
    "locations": [{"path": "/f"}],
}
FORM = {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}}


def session(**members: Any) -> dict[str, Any]:
    return {"sessionId": "s", **members}


def update(kind: str, **members: Any) -> dict[str, Any]:
    return session(update={"sessionUpdate": kind, **members})


# Every method with valid params and a valid result; few ids, so that they meet.
REQUESTS: dict[Side, list[tuple[str, Any, Any]]] = {
    Side.CLIENT: [
        ("initialize", INITIALIZE, INITIALIZED),
        ("authenticate", {"methodId": "login"}, {}),
        ("logout", {}, {}),
        ("session/new", {"cwd": "/w", "mcpServers": [SERVER]}, session(**SETUP)),
        ("session/load", session(cwd="/w", mcpServers=[]), SETUP),
        ("session/resume", session(cwd="/w"), SETUP),
        ("session/list", {}, {"sessions": [session(cwd="/w")]}),
        ("session/delete", session(), {}),
        ("session/close", session(), {}),
        ("session/set_mode", session(modeId="m"), {}),
        (
            "session/set_config_option",
            session(configId="o", type="boolean", value=False),
            {"configOptions": [OPTION]},
        ),
        ("session/prompt", session(prompt=[TEXT]), {"stopReason": "end_turn"}),
        ("session/prompt", session(prompt=[TEXT]), {"stopReason": "cancelled"}),
        ("_x", session(), {"configOptions": [1]}),
    ],
    Side.AGENT: [
        (
            "session/request_permission",
            session(toolCall=CALL, options=[{"optionId": "y", "name": "Y", "kind": "allow_once"}]),
            {"outcome": {"outcome": "selected", "optionId": "y"}},
        ),
        ("fs/read_text_file", session(path="/f"), {"content": ""}),
        ("fs/write_text_file", session(path="/f", content=""), {}),
        ("terminal/create", session(command="c"), {"terminalId": "t"}),
        ("terminal/output", session(terminalId="t"), {"output": "", "truncated": False}),
        ("terminal/wait_for_exit", session(terminalId="t"), {"exitCode": 0}),
        ("terminal/kill", session(terminalId="t"), {}),
        ("terminal/release", session(terminalId="t"), {}),
        ("elicitation/create", session(**FORM), {"action": "accept", "content": {}}),
        ("elicitation/create", {**FORM, "requestId": 0}, {"action": "decline"}),
        (
            "elicitation/create",
            session(mode="url", message="m", elicitationId="e", url="https://x"),
            {"action": "cancel"},
        ),
        ("elicitation/create", {"mode": "_own", "message": "m", "requestId": 1}, {"action": "_own"}),
        ("_x", {}, None),
    ],
}
TURN_REQUESTS = {
    side: [request for request in requests if request[0] in {"session/prompt", "session/request_permission"}]
    for side, requests in REQUESTS.items()
}
NOTIFICATIONS: dict[Side, list[tuple[str, Any]]] = {
    Side.CLIENT: [
        ("session/cancel", session()),
        ("$/cancel_request", {"requestId": 0}),
        ("_x", {}),
    ],
    Side.AGENT: [
        ("$/cancel_request", {"requestId": 1}),
        ("elicitation/complete", {"elicitationId": "e"}),
        *(
            ("session/update", params)
            for params in [
                update("agent_message_chunk", content=TEXT),
                update("plan", entries=[{"content": "c", "priority": "low", "status": "pending"}]),
                update("tool_call", **CALL),
                update("tool_call", toolCallId="d", title="t", status="in_progress"),
                update("tool_call_update", toolCallId="c", status="in_progress"),
                update("tool_call_update", toolCallId="c", status="completed"),
                update("tool_call_update", toolCallId="d", content=[{"type": "terminal", "terminalId": "t"}]),
                update("config_option_update", configOptions=[OPTION]),
                update("current_mode_update", currentModeId="m"),
                update("usage_update", used=1, size=2),
                update("notice", severity="info", title="t"),
                update("compaction_update", compactionId="k", status="in_progress"),
                update("compaction_update", compactionId="k", status="completed"),
                update("compaction_summary_chunk", compactionId="k", content=TEXT),
            ]
        ),
    ],
}
FRESH_IDS = st.integers(100, 100_000)
IDS = st.one_of([FRESH_IDS] * 6 + [st.sampled_from([0, 1, "0", None, 1.0, 1.5, True, [], {}])])
JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        2**53,
        1e300,
        "",
        "s",
        "x",
        "/",
        "rel",
        "\ud83d",
        [],
        [1],
        [[]],
        [{}],
        {},
        {"a": 1},
        {"type": []},
    ]
).map(copy.deepcopy)
NAMES = st.sampled_from(
    [
        "sessionId",
        "cwd",
        "path",
        "additionalDirectories",
        "configOptions",
        "elicitationId",
        "requestId",
        "modes",
        "type",
        "toolCallId",
        "terminalId",
        "mcpServers",
        "status",
        "stopReason",
        "outcome",
        "_meta",
        "zz",
    ]
)


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """The value with a few members or items removed, replaced or added somewhere inside."""
    return _mutated(draw, value)


@st.composite
def messages(draw: st.DrawFn, side: Side, conversation: Conversation) -> bytes:
    """A line that `side` may write: nearly always a message, often nearly legal."""
    return _message(draw, side, conversation)


# What is drawn inside of these is drawn by the hundred for one case, so no strategy is made for a single draw.


@cache
def _index(size: int) -> st.SearchStrategy[int]:
    return st.integers(0, size - 1)


def _pick(draw: st.DrawFn, items: Sequence[Any]) -> Any:
    return items[draw(_index(len(items)))]


def _mutated(draw: st.DrawFn, value: Any) -> Any:
    value = copy.deepcopy(value)
    for _ in range(_pick(draw, (0, 0, 0, 0, 1, 1, 2))):
        places = list(_places(value))
        if not places:
            return draw(JUNK)
        place = _pick(draw, places)
        if isinstance(place, dict):
            name = _pick(draw, sorted(place)) if place and _pick(draw, (True, False)) else draw(NAMES)
            if name in place and _pick(draw, (True, False)):
                del place[name]
            else:
                place[name] = draw(JUNK)
        elif place and _pick(draw, (True, False)):
            place[draw(_index(len(place)))] = draw(JUNK)
        else:
            place.append(draw(JUNK))
    return value


def _places(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _places(item)


def _message(draw: st.DrawFn, side: Side, conversation: Conversation) -> bytes:
    kind = _pick(draw, KINDS)
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if kind == "bytes":
        return draw(NOISE) + b"\n"
    if kind == "request":
        # Turns and permissions are where the states are.
        method, params, _ = _pick(draw, _pick(draw, (REQUESTS, TURN_REQUESTS))[side])
        message |= {"id": draw(IDS), "method": method, "params": _mutated(draw, params)}
    elif kind == "notification":
        method, params = _pick(draw, NOTIFICATIONS[side])
        message |= {"method": method, "params": _mutated(draw, params)}
    else:
        other = Side.AGENT if side is Side.CLIENT else Side.CLIENT
        message |= _answer(draw, REQUESTS[other], list(conversation.open[other]), kind == "error")
    if draw(_index(20)) == 0:
        message = _mutated(draw, message)
    return json.dumps(message).encode() + b"\n"


def _answer(
    draw: st.DrawFn, requests: list[tuple[str, Any, Any]], calls: list[OpenCall], failed: bool
) -> dict[str, Any]:
    """A response, mostly to a call that is open and of the kind that it waits for."""
    id_ = draw(IDS)
    if calls and draw(_index(10)):
        call = _pick(draw, calls)
        id_ = call.id
        requests = [request for request in requests if request[0] == call.method] or requests
    if failed:
        code = _pick(draw, (-32603, -32800, -32002, 2**40))
        return {"id": id_, "error": _mutated(draw, {"code": code, "message": "m"})}
    return {"id": id_, "result": _mutated(draw, _pick(draw, requests)[2])}


KINDS = ["request"] * 4 + ["notification"] * 4 + ["response"] * 5 + ["error", "bytes"]
NOISE = st.binary(max_size=30)
INITIALISED = st.integers(0, 7).map(bool)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("queue_prompts", "reload_open_session", "lax_content", "strict")}
)
POLICIES = FLAGS.map(lambda flags: Policy(**flags))


def well_formed(events: list[Event], role: Role) -> None:
    """What holds for whatever came in."""
    for event in events:
        if isinstance(event, ProtocolViolation):
            assert event.verdict.reason in REASONS
            assert "\n" not in event.verdict.sentence
            if event.reply is not None:
                assert role is not Role.OBSERVER
                assert event.reply.count(b"\n") == 1
                assert event.reply.endswith(b"\n")
                reply = classify(decode(event.reply))
                assert isinstance(reply, Response)
                assert reply.error is not None
                assert schema.is_valid("Error", reply.error.to_object())
                assert reply.error.data["reason"] == event.verdict.reason


def opened(connection: Connection, initialised: bool) -> None:
    """Bring a connection of any role to where there is a session and a turn."""
    if not initialised:
        return
    exchange = [
        (Side.CLIENT, {"id": 90, "method": "initialize", "params": INITIALIZE}),
        (Side.AGENT, {"id": 90, "result": INITIALIZED}),
        (Side.CLIENT, {"id": 91, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
        (Side.AGENT, {"id": 91, "result": session(**SETUP)}),
        (Side.CLIENT, {"id": 0, "method": "session/prompt", "params": session(prompt=[TEXT])}),
    ]
    own = connection.conversation.own
    for side, message in exchange:
        if own is None:
            connection.observe(side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        elif side is own and "result" in message:
            connection.respond(message["id"], message["result"])  # type: ignore[arg-type]
        elif side is own:
            connection._next_id = message["id"]
            connection.request(message["method"], message["params"])  # type: ignore[arg-type]
        else:
            connection.receive(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


SIDES: dict[Role, tuple[Side, Side]] = {
    Role.AGENT: (Side.AGENT, Side.CLIENT),
    Role.CLIENT: (Side.CLIENT, Side.AGENT),
}
"""Our own side and the peer's."""


@st.composite
def conversations(draw: st.DrawFn, role: Role) -> dict[str, Any]:
    """A conversation as one connection sees it.

    steps: ["receive", side, bytes], ["request" | "notify", method, params], ["respond", id, result] and
    ["respond_error", id, code]. What is drawn depends on what the connection has open, so it is led meanwhile; where
    leading it fails the conversation ends, and whoever leads it again will see why.
    """
    flags = draw(FLAGS)
    initialised = draw(INITIALISED)
    connection = Connection(role, Policy(**flags))
    opened(connection, initialised)
    steps: list[list[Any]] = []
    for _ in range(draw(st.integers(1, 40))):
        steps.append(_step(draw, role, connection))
        try:
            take(connection, steps[-1])
        except LocalProtocolError:
            pass
        except Exception:  # noqa: BLE001 - it is for the target to find it
            break
    return {"role": str(role), "flags": flags, "initialised": initialised, "steps": steps}


def _step(draw: st.DrawFn, role: Role, connection: Connection) -> list[Any]:
    conversation = connection.conversation
    if role is Role.OBSERVER:
        side = _pick(draw, (Side.AGENT, Side.CLIENT))
        return ["receive", str(side), _message(draw, side, conversation)]
    own, peer = SIDES[role]
    if draw(_index(3)):
        return ["receive", str(peer), _message(draw, peer, conversation)]
    what = _pick(draw, ("request", "notify", "respond", "respond", "respond_error"))
    if what == "request":
        method, params, _ = _pick(draw, REQUESTS[own])
        return [what, method, _mutated(draw, params)]
    if what == "notify":
        method, params = _pick(draw, NOTIFICATIONS[own])
        return [what, method, _mutated(draw, params)]
    calls = list(conversation.open[peer])
    call = _pick(draw, calls) if calls else None
    id_ = call.id if call is not None else 0
    if what == "respond_error":
        return [what, id_, _pick(draw, (-32603, -32800, -32000, 2**31))]
    fitting = [one for one in REQUESTS[peer] if call is not None and one[0] == call.method] or REQUESTS[peer]
    return [what, id_, _mutated(draw, _pick(draw, fitting)[2] or {})]


def take(connection: Connection, step: list[Any]) -> list[Event] | bytes:
    """Carry out one step: the events of what came in, or the line that goes out. Raises LocalProtocolError."""
    what, first, second = step
    if what == "receive":
        side = Side(first)
        return (
            connection.observe(side, second)
            if connection.role is Role.OBSERVER
            else connection.receive(second)
        )
    if what == "request":
        return connection.request(first, second)[1]
    if what == "notify":
        return connection.notify(first, second)
    if what == "respond":
        return connection.respond(first, second)
    return connection.respond_error(first, RpcError(second, "m"))
