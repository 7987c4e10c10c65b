"""No bytes of a peer make a Connection raise, and every reply it makes is a valid line."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.jsonrpc.codec import decode
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import Response, classify
from acp_agent.jsonrpc.pending import OpenCall
from acp_agent.protocol import schema
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation, RequestReceived, ResponseReceived, StreamEnded
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
    value = copy.deepcopy(value)
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 1, 2]))):
        places = list(_places(value))
        if not places:
            return draw(JUNK)
        place = draw(st.sampled_from(places))
        if isinstance(place, dict):
            name = draw(st.sampled_from(sorted(place)) | NAMES) if place else draw(NAMES)
            if name in place and draw(st.booleans()):
                del place[name]
            else:
                place[name] = draw(JUNK)
        elif place and draw(st.booleans()):
            place[draw(st.integers(0, len(place) - 1))] = draw(JUNK)
        else:
            place.append(draw(JUNK))
    return value


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _places(item)


@st.composite
def messages(draw: st.DrawFn, side: Side, conversation: Conversation) -> bytes:
    """A line that `side` may write: nearly always a message, often nearly legal."""
    kind = draw(
        st.sampled_from(["request"] * 4 + ["notification"] * 4 + ["response"] * 5 + ["error", "bytes"])
    )
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if kind == "bytes":
        return draw(st.binary(max_size=30)) + b"\n"
    if kind == "request":
        # Turns and permissions are where the states are.
        method, params, _ = draw(st.sampled_from(REQUESTS[side]) | st.sampled_from(TURN_REQUESTS[side]))
        message |= {"id": draw(IDS), "method": method, "params": draw(mutated(params))}
    elif kind == "notification":
        method, params = draw(st.sampled_from(NOTIFICATIONS[side]))
        message |= {"method": method, "params": draw(mutated(params))}
    else:
        other = Side.AGENT if side is Side.CLIENT else Side.CLIENT
        message |= draw(answers(REQUESTS[other], list(conversation.open[other]), kind == "error"))
    if draw(st.integers(0, 19)) == 0:
        message = draw(mutated(message))
    return json.dumps(message).encode() + b"\n"


@st.composite
def answers(
    draw: st.DrawFn, requests: list[tuple[str, Any, Any]], calls: list[OpenCall], failed: bool
) -> dict[str, Any]:
    """A response, mostly to a call that is open and of the kind that it waits for."""
    id_ = draw(IDS)
    if calls and draw(st.integers(0, 9)):
        call = draw(st.sampled_from(calls))
        id_ = call.id
        requests = [request for request in requests if request[0] == call.method] or requests
    if failed:
        code = draw(st.sampled_from([-32603, -32800, -32002, 2**40]))
        return {"id": id_, "error": draw(mutated({"code": code, "message": "m"}))}
    return {"id": id_, "result": draw(mutated(draw(st.sampled_from(requests))[2]))}


INITIALISED = st.integers(0, 7).map(bool)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("queue_prompts", "reload_open_session", "lax_content", "strict")}
)
POLICIES = FLAGS.map(lambda flags: Policy(**flags))


def check(events: list[Event], role: Role) -> None:
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


@given(st.data(), POLICIES, INITIALISED)
def test_an_observer_survives_any_conversation(
    data: st.DataObject, policy: Policy, initialised: bool
) -> None:
    """Both sides may do what they like; every message is seen, and the ends come once."""
    observer = Connection(Role.OBSERVER, policy)
    opened(observer, initialised)
    for _ in range(data.draw(st.integers(1, 40))):
        side = data.draw(st.sampled_from([Side.AGENT, Side.CLIENT]))
        check(observer.observe(side, data.draw(messages(side, observer.conversation))), Role.OBSERVER)
    for side in (Side.AGENT, Side.CLIENT):
        events = observer.observe(side, b"")
        check(events, Role.OBSERVER)
        assert isinstance(events[-1], StreamEnded)


@given(st.sampled_from([Role.AGENT, Role.CLIENT]), st.data(), POLICIES, INITIALISED)
def test_no_peer_makes_a_connection_raise(
    role: Role, data: st.DataObject, policy: Policy, initialised: bool
) -> None:
    """Bad input is data; only what we send ourselves may raise, and then LocalProtocolError alone."""
    own, peer = (Side.AGENT, Side.CLIENT) if role is Role.AGENT else (Side.CLIENT, Side.AGENT)
    connection = Connection(role, policy)
    opened(connection, initialised)
    unanswered: set[Any] = {call.id for call in connection.conversation.open[peer]}
    asked: set[Any] = {call.id for call in connection.conversation.open[own]}
    for _ in range(data.draw(st.integers(1, 40))):
        if data.draw(st.integers(0, 2)):
            events = connection.receive(data.draw(messages(peer, connection.conversation)))
            check(events, role)
            for event in events:
                if isinstance(event, RequestReceived):
                    assert event.id not in unanswered
                    unanswered.add(event.id)
                elif isinstance(event, ResponseReceived):
                    asked.remove(event.id)  # one answer a request
            continue
        what = data.draw(st.sampled_from(["request", "notification", "answer", "error"]))
        with contextlib.suppress(LocalProtocolError):
            if what == "request":
                method, params, _ = data.draw(st.sampled_from(REQUESTS[own]))
                asked.add(connection.request(method, params)[0])
            elif what == "notification":
                connection.notify(*data.draw(st.sampled_from(NOTIFICATIONS[own])))
            elif unanswered:
                id_ = data.draw(st.sampled_from(sorted(unanswered, key=repr)))
                if what == "answer":
                    line = connection.respond(id_, data.draw(st.sampled_from(REQUESTS[peer]))[2] or {})
                else:
                    line = connection.respond_error(
                        id_, RpcError(data.draw(st.sampled_from([-32603, -32800])), "m")
                    )
                assert decode(line)["id"] == id_
                unanswered.remove(id_)
    events = connection.receive(b"")
    check(events, role)
    assert set(events[-1].unanswered) == asked  # type: ignore[union-attr]


@given(st.sampled_from(list(Role)), st.lists(st.binary(max_size=60), max_size=6))
def test_any_bytes_at_all_are_read(role: Role, slices: list[bytes]) -> None:
    """Arbitrary bytes, in arbitrary slices."""
    connection = Connection(role, max_line_bytes=40)
    for piece in slices:
        if piece:
            check(
                connection.observe(Side.CLIENT, piece)
                if role is Role.OBSERVER
                else connection.receive(piece),
                role,
            )


UNHASHABLE = [
    ("session/new", {"cwd": "/w", "mcpServers": [{**SERVER, "type": []}], "sessionId": []}),
    ("session/list", {"sessionId": {}, "path": 5, "additionalDirectories": 7}),
    ("authenticate", {"methodId": "login", "cwd": 5, "path": [], "sessionId": []}),
    ("session/prompt", {**session(prompt=[]), "cwd": 5, "path": {}, "additionalDirectories": 1}),
    ("logout", {"sessionId": "unheard-of"}),
    ("_x", {"sessionId": [], "cwd": 5}),
]


@pytest.mark.parametrize(("method", "params"), UNHASHABLE)
def test_unknown_members_may_be_anything(method: str, params: dict[str, Any]) -> None:
    """Only what a type specifies is judged: a `sessionId` or `cwd` elsewhere is a stranger's member."""
    connection = Connection(Role.AGENT, Policy(queue_prompts=True))
    opened(connection, True)
    (event,) = connection.receive(
        json.dumps({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}).encode() + b"\n"
    )
    assert isinstance(event, RequestReceived)


@pytest.mark.parametrize(
    "params",
    [
        {**FORM, "sessionId": "s", "elicitationId": []},
        {"mode": "_own", "message": "m", "requestId": 1, "sessionId": []},
        {
            "mode": "url",
            "message": "m",
            "elicitationId": "e",
            "url": "https://x",
            "requestId": 0,
            "sessionId": [],
        },
    ],
)
def test_odd_members_of_an_elicitation_are_no_crash(params: dict[str, Any]) -> None:
    """The scope that fits the schema may stand beside one that does not."""
    connection = Connection(Role.CLIENT)
    opened(connection, True)
    events = connection.receive(
        json.dumps({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": params}).encode()
        + b"\n"
    )
    check(events, Role.CLIENT)


@pytest.mark.parametrize("answer", [{"action": "decline"}, None])
def test_a_foreign_elicitation_id_is_no_crash_when_it_is_over(answer: Any) -> None:
    """A form has no id; what stands under that name is a stranger's member."""
    connection = Connection(Role.AGENT)
    opened(connection, True)
    id_, _ = connection.request("elicitation/create", session(**FORM, elicitationId=[]))
    message = {"result": answer} if answer else {"error": {"code": -32603, "message": "m"}}
    (event,) = connection.receive(json.dumps({"jsonrpc": "2.0", "id": id_, **message}).encode() + b"\n")
    assert isinstance(event, ResponseReceived)


def test_a_result_with_foreign_members_is_no_crash() -> None:
    """`configOptions` means something in four results only."""
    connection = Connection(Role.AGENT)
    opened(connection, True)
    for method, params, result in [
        ("_x", {}, {"configOptions": [1]}),
        ("fs/read_text_file", session(path="/f"), {"content": "", "configOptions": [1], "modes": 5}),
    ]:
        id_, _ = connection.request(method, params)
        (event,) = connection.receive(
            json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode() + b"\n"
        )
        assert isinstance(event, ResponseReceived)
