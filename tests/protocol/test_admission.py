"""The order of the checks before a request is admitted: the first that fails names the error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import ProtocolViolation, RequestReceived

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def receive(connection: Connection, message: Any) -> Any:
    (event,) = connection.receive(json.dumps(message).encode() + b"\n")
    return event


def agent(**result: Any) -> Connection:
    connection = Connection(Role.AGENT)
    receive(connection, INITIALIZE)
    connection.respond(0, {"protocolVersion": 1, **result})
    receive(
        connection,
        {**INITIALIZE, "id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}},
    )
    connection.respond(1, {"sessionId": "s1"})
    receive(
        connection,
        {**INITIALIZE, "id": 2, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": []}},
    )
    return connection


IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}
# Each line has all the faults of the lines below it.
ORDER: list[tuple[dict[str, Any], str]] = [
    ({"jsonrpc": "1.0", "id": 2, "method": "session/load"}, "bad_envelope"),
    ({"id": 2, "method": "session/load"}, "duplicate_id"),
    ({"method": "initialize"}, "already_initialised"),
    ({"method": "session/load"}, "capability_missing"),
    ({"method": "x/y"}, "method_unknown"),
    ({"method": "session/prompt", "params": {"sessionId": "gone"}}, "params_invalid"),
    ({"method": "session/prompt", "params": {"sessionId": "gone", "prompt": [IMAGE]}}, "session_unknown"),
    ({"method": "session/prompt", "params": {"sessionId": "s1", "prompt": [IMAGE]}}, "turn_active"),
    ({"method": "fs/read_text_file", "params": {"sessionId": "s1"}}, "method_unknown"),
]


@pytest.mark.parametrize(
    ("message", "reason"), ORDER, ids=[f"{n} {reason}" for n, (_, reason) in enumerate(ORDER)]
)
def test_the_first_check_that_fails_names_the_error(message: dict[str, Any], reason: str) -> None:
    """JSON and envelope, connection state, method and gate, params, session, state of its turn."""
    event = receive(agent(), {"jsonrpc": "2.0", "id": 9, **message})
    assert isinstance(event, ProtocolViolation)
    assert event.verdict.reason == reason
    assert event.reply is not None


def test_connection_state_comes_before_method_and_params() -> None:
    """Requests before `initialize` get -32600, whatever their name."""
    for method in ("x/y", "session/load", "session/cancel", "fs/read_text_file"):
        event = receive(Connection(Role.AGENT), {"jsonrpc": "2.0", "id": 9, "method": method, "params": 5})
        assert event.verdict.reason == "not_initialised"


def test_a_path_is_judged_before_the_session_it_is_for() -> None:
    """A relative cwd is bad params, whichever session is loaded."""
    connection = agent(agentCapabilities={"loadSession": True})
    params = {"sessionId": "s1", "cwd": "w", "mcpServers": []}
    event = receive(connection, {"jsonrpc": "2.0", "id": 9, "method": "session/load", "params": params})
    assert event.verdict.reason == "params_invalid"


def test_additional_directories_need_their_capability() -> None:
    """R-078: an empty list is none."""
    params = {"cwd": "/w", "mcpServers": [], "additionalDirectories": ["/a"]}
    message = {"jsonrpc": "2.0", "id": 9, "method": "session/new", "params": params}
    event = receive(agent(), message)
    assert (event.verdict.reason, event.verdict.where["path"]) == ("params_invalid", "/additionalDirectories")
    capable = agent(agentCapabilities={"sessionCapabilities": {"additionalDirectories": {}}})
    assert isinstance(receive(capable, message), RequestReceived)
    params["additionalDirectories"] = []
    assert isinstance(receive(agent(), message), RequestReceived)


def test_deleting_is_legal_whatever_the_session() -> None:
    """R-102, R-103: an unknown one succeeds, an active one is the agent's decision."""
    connection = agent(agentCapabilities={"sessionCapabilities": {"delete": {}}})
    for number, session_id in enumerate(["s1", "never-heard-of"], start=20):
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "session/delete",
            "params": {"sessionId": session_id},
        }
        assert isinstance(receive(connection, message), RequestReceived)
