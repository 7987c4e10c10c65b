"""No bytes of a peer make a Connection raise, and every reply it makes is a valid line."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.traffic import (
    FORM,
    INITIALISED,
    NOTIFICATIONS,
    POLICIES,
    REQUESTS,
    SERVER,
    messages,
    opened,
    session,
    well_formed,
)

from acp_agent.jsonrpc.codec import decode
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import RequestReceived, ResponseReceived, StreamEnded
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy


@given(st.data(), POLICIES, INITIALISED)
def test_an_observer_survives_any_conversation(
    data: st.DataObject, policy: Policy, initialised: bool
) -> None:
    """Both sides may do what they like; every message is seen, and the ends come once."""
    observer = Connection(Role.OBSERVER, policy)
    opened(observer, initialised)
    for _ in range(data.draw(st.integers(1, 40))):
        side = data.draw(st.sampled_from([Side.AGENT, Side.CLIENT]))
        well_formed(observer.observe(side, data.draw(messages(side, observer.conversation))), Role.OBSERVER)
    for side in (Side.AGENT, Side.CLIENT):
        events = observer.observe(side, b"")
        well_formed(events, Role.OBSERVER)
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
            well_formed(events, role)
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
    well_formed(events, role)
    assert set(events[-1].unanswered) == asked  # type: ignore[union-attr]


@given(st.sampled_from(list(Role)), st.lists(st.binary(max_size=60), max_size=6))
def test_any_bytes_at_all_are_read(role: Role, slices: list[bytes]) -> None:
    """Arbitrary bytes, in arbitrary slices."""
    connection = Connection(role, max_line_bytes=40)
    for piece in slices:
        if piece:
            well_formed(
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
    well_formed(events, Role.CLIENT)


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
