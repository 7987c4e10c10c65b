"""The choices ACP leaves open: each changes one thing, and the defaults are the strict reading."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation, RequestReceived
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy

if TYPE_CHECKING:
    from conftest import Pair

AGENT, CLIENT = Side.AGENT, Side.CLIENT


def agent(policy: Policy, capabilities: dict[str, Any] | None = None, **members: Any) -> Connection:
    connection = Connection(Role.AGENT, policy)
    ask(connection, "initialize", {"protocolVersion": 1}, 0)
    connection.respond(0, {"protocolVersion": 1, "agentCapabilities": capabilities or {}, **members})
    ask(connection, "session/new", {"cwd": "/w", "mcpServers": []}, 1)
    connection.respond(1, {"sessionId": "s1"})
    return connection


def ask(connection: Connection, method: str, params: Any, id_: int = 7) -> list[Event]:
    line = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
    return connection.receive(line.encode() + b"\n")


def error(events: list[Event]) -> dict[str, Any]:
    (event,) = events
    assert isinstance(event, ProtocolViolation)
    result: dict[str, Any] = json.loads(event.reply or b"")["error"]
    return result


def taken(events: list[Event]) -> bool:
    return [type(event) for event in events] == [RequestReceived]


PROMPT = {"sessionId": "s1", "prompt": [{"type": "text", "text": "x"}]}


def test_queue_prompts_lets_a_second_prompt_wait(make_pair: Callable[..., Pair]) -> None:
    """Decision 10: refused as `turn_active` by default; queued, its updates belong to the first turn."""
    strict = agent(Policy())
    assert taken(ask(strict, "session/prompt", PROMPT, 2))
    refusal = error(ask(strict, "session/prompt", PROMPT, 3))
    assert (refusal["code"], refusal["data"]["reason"]) == (-32600, "turn_active")
    policy = Policy(queue_prompts=True, strict=True)
    pair = make_pair(policy, policy, policy)
    pair.initialise()
    pair.new_session()
    first, second, third = pair.prompt(), pair.prompt(), pair.prompt()
    pair.chunk()
    assert [pair.turn_states(id_) for id_ in (first, second)] == [{"streaming"}, {"pending"}]
    pair.end(first)
    # To the reader it would be the first of the next turn; here nothing of the old one can follow its answer.
    with pytest.raises(LocalProtocolError, match="before the answer to its prompt"):
        pair.agent.notify("session/update", {"sessionId": "s1", "update": CHUNK})
    pair.agent.conversation.begin_turn(second)
    pair.chunk()
    assert pair.turn_states(second) == {"streaming"}
    pair.cancel()
    fourth = pair.prompt()
    pair.end(third, "cancelled")
    pair.end(second, "cancelled")
    pair.agent.conversation.begin_turn(fourth)
    pair.chunk()
    pair.end(fourth)
    assert pair.found == []


@pytest.mark.parametrize("code", [-32002, -32602])
def test_unknown_session_code_is_what_an_unknown_session_gets(code: int) -> None:
    """Always with the session's id in `data`."""
    connection = agent(Policy(unknown_session_code=code) if code != -32002 else Policy())
    refusal = error(ask(connection, "session/prompt", {**PROMPT, "sessionId": "gone"}))
    assert refusal["code"] == code
    assert refusal["data"] == {"reason": "session_unknown", "sessionId": "gone"}


def test_any_authenticate_takes_every_method_id() -> None:
    """R-044, R-045: else only an advertised id that is not `terminal`."""
    methods = [{"id": "web", "name": "W"}, {"id": "tty", "name": "T", "type": "terminal"}]
    strict = agent(Policy(), authMethods=methods)
    assert taken(ask(strict, "authenticate", {"methodId": "web"}))
    for id_, method in enumerate(["tty", "unknown"], start=10):
        refusal = error(ask(strict, "authenticate", {"methodId": method}, id_))
        assert (refusal["code"], refusal["data"]["path"]) == (-32602, "/methodId")
    assert taken(ask(agent(Policy(any_authenticate=True)), "authenticate", {"methodId": "unknown"}))


CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
BLOCKS = {
    "image": {"type": "image", "data": "", "mimeType": "image/png"},
    "audio": {"type": "audio", "data": "", "mimeType": "audio/wav"},
    "embeddedContext": {"type": "resource", "resource": {"uri": "file:///f", "text": ""}},
}


@pytest.mark.parametrize("capability", BLOCKS.keys())
def test_lax_content_passes_blocks_nobody_advertised(capability: str) -> None:
    """R-127: else -32602 with a pointer to the block; with the capability it is legal."""
    prompt = {"sessionId": "s1", "prompt": [{"type": "text", "text": ""}, BLOCKS[capability]]}
    refusal = error(ask(agent(Policy()), "session/prompt", prompt))
    assert (refusal["code"], refusal["data"]["reason"]) == (-32602, "content_not_supported")
    assert refusal["data"]["path"] == "/prompt/1"
    assert taken(ask(agent(Policy(lax_content=True)), "session/prompt", prompt))
    assert taken(ask(agent(Policy(), {"promptCapabilities": {capability: True}}), "session/prompt", prompt))


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_lax_mcp_servers_passes_kinds_nobody_advertised(kind: str) -> None:
    """R-086: else -32602; stdio is always legal (R-085)."""
    stdio = {"name": "a", "command": "/c", "args": [], "env": []}
    params = {
        "cwd": "/w",
        "mcpServers": [stdio, {"type": kind, "name": "b", "url": "http://x", "headers": []}],
    }
    refusal = error(ask(agent(Policy()), "session/new", params))
    assert (refusal["code"], refusal["data"]["reason"]) == (-32602, "content_not_supported")
    assert refusal["data"]["path"] == "/mcpServers/1"
    assert taken(ask(agent(Policy(lax_mcp_servers=True)), "session/new", params))
    assert taken(ask(agent(Policy(), {"mcpCapabilities": {kind: True}}), "session/new", params))


def test_a_bare_command_of_a_server_is_taken_with_a_warning() -> None:
    """Decision 7: common, so never refused; and not even worth a word to whoever ignores servers."""
    params = {"cwd": "/w", "mcpServers": [{"name": "a", "command": "npx", "args": [], "env": []}]}
    first, second = ask(agent(Policy()), "session/new", params)
    assert isinstance(first, ProtocolViolation)
    assert (first.verdict.severity, first.reply) == ("warning", None)
    assert first.verdict.where["path"] == "/mcpServers/0/command"
    assert isinstance(second, RequestReceived)
    assert taken(ask(agent(Policy(lax_mcp_servers=True)), "session/new", params))


def test_reload_open_session_lets_an_idle_session_be_loaded_again(make_pair: Callable[..., Pair]) -> None:
    """Else -32600 `session_already_open`; never while a turn runs; a failed reload leaves what was there."""
    policy = Policy(reload_open_session=True, strict=True)
    pair = make_pair(policy, policy, policy)
    pair.initialise()
    pair.new_session()
    load = {"sessionId": "s1", "cwd": "/w", "mcpServers": []}
    prompt = pair.prompt()
    refusal = error(ask(pair.agent, "session/load", load, 70))
    assert refusal["data"]["reason"] == "session_already_open"
    pair.update("tool_call", toolCallId="c1", title="t", status="failed")
    pair.end(prompt)
    id_ = pair.ask(CLIENT, "session/load", load)
    pair.update("tool_call", toolCallId="c1", title="t", status="failed")
    pair.answer(AGENT, id_, {})
    pair.end(pair.prompt())
    pair.answer(AGENT, pair.ask(CLIENT, "session/load", load), RpcError(-32603, "no"))
    pair.end(pair.prompt())
    assert pair.found == []


def test_served_makes_every_other_method_unknown() -> None:
    """What this side has no handler for is -32601, before its params are looked at; its own calls are free."""
    connection = agent(Policy(served=frozenset({"initialize", "session/new", "session/prompt"})))
    for id_, method in enumerate(["session/list", "logout", "_x", "authenticate"], start=20):
        refusal = error(ask(connection, method, {}, id_))
        assert (refusal["code"], refusal["data"]["reason"]) == (-32601, "method_unknown")
    reasons = {"session/cancel": "notification_as_request", "fs/read_text_file": "method_unknown"}
    for id_, (method, reason) in enumerate(reasons.items(), start=24):
        refusal = error(ask(connection, method, {}, id_))
        assert (refusal["code"], refusal["data"]["reason"]) == (-32601, reason)
    assert taken(ask(connection, "session/prompt", PROMPT, 30))
    assert connection.request("_own", {})[1]


def test_versions_are_those_a_client_can_speak(make_pair: Callable[..., Pair]) -> None:
    """K2, K3."""
    for versions, state in (((1, 2), ConnectionState.READY), ((1,), ConnectionState.CLOSING)):
        policy = Policy(versions=versions)
        pair = make_pair(policy, policy, policy)
        pair.do(CLIENT, "initialize", {"protocolVersion": 2}, {"protocolVersion": 2})
        assert pair.client.state is state


def test_the_defaults_are_the_strict_reading_of_the_protocol_and_lenient_with_members() -> None:
    """A policy says where it differs, and nothing else."""
    assert Policy() == Policy(
        queue_prompts=False,
        unknown_session_code=-32002,
        any_authenticate=False,
        lax_content=False,
        lax_mcp_servers=False,
        reload_open_session=False,
        served=None,
        versions=(1,),
        strict=False,
    )
