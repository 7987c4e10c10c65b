"""Two connections wired together and an observer between them, so that a test asserts from every end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from reference.snapshot import snapshot

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import Event, ProtocolViolation
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import Session

CLIENT_CAPABILITIES: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "auth": {"terminal": True},
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
}
AGENT_CAPABILITIES: dict[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        "list": {},
        "delete": {},
        "resume": {},
        "close": {},
        "additionalDirectories": {},
    },
    "auth": {"logout": {}},
}
STRICT = Policy(strict=True)
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def line(**members: Any) -> bytes:
    """One JSON-RPC line as a peer may write it."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


class Pair:
    """An agent and a client, wired by lines, and an observer that sees each line when its receiver does.

    found: every finding of a receiver, as (who has it: "agent", "client", "observer", verdict).
    """

    def __init__(self, agent: Policy, client: Policy, observer: Policy) -> None:
        self.ends = {
            Side.AGENT: Connection(Role.AGENT, agent),
            Side.CLIENT: Connection(Role.CLIENT, client),
        }
        self.observer = Connection(Role.OBSERVER, observer)
        self.found: list[tuple[str, Any]] = []
        self.seen: list[Event] = []

    @property
    def agent(self) -> Connection:
        return self.ends[Side.AGENT]

    @property
    def client(self) -> Connection:
        return self.ends[Side.CLIENT]

    # -- a line that one end has made, on its way

    def ask_line(self, side: Side, method: str, params: dict[str, Any]) -> tuple[RequestId, bytes]:
        return self.ends[side].request(method, params)

    def deliver(self, sender: Side, data: bytes) -> list[Event]:
        """The line arrives: at the observer, then at the other end."""
        receiver = Side.CLIENT if sender is Side.AGENT else Side.AGENT
        self.seen = self.observer.observe(sender, data)
        events = self.ends[receiver].receive(data)
        for who, given in ((receiver.value, events), ("observer", self.seen)):
            self.found += [(who, event.verdict) for event in given if isinstance(event, ProtocolViolation)]
        return events

    # -- said and heard at once

    def ask(self, side: Side, method: str, params: dict[str, Any]) -> RequestId:
        id_, data = self.ends[side].request(method, params)
        self.deliver(side, data)
        return id_

    def tell(self, side: Side, method: str, params: dict[str, Any]) -> list[Event]:
        return self.deliver(side, self.ends[side].notify(method, params))

    def answer(self, side: Side, id_: RequestId, answer: dict[str, Any] | RpcError) -> list[Event]:
        """`side` answers a request of the other one."""
        end = self.ends[side]
        data = end.respond_error(id_, answer) if isinstance(answer, RpcError) else end.respond(id_, answer)
        return self.deliver(side, data)

    def do(self, side: Side, method: str, params: dict[str, Any], result: dict[str, Any]) -> None:
        """`side` asks, the other one answers."""
        other = Side.CLIENT if side is Side.AGENT else Side.AGENT
        self.answer(other, self.ask(side, method, params), result)

    # -- the usual things

    def initialise(
        self, client: dict[str, Any] | None = None, agent: dict[str, Any] | None = None, **result: Any
    ) -> None:
        params = {
            "protocolVersion": 1,
            "clientCapabilities": CLIENT_CAPABILITIES if client is None else client,
        }
        capabilities = AGENT_CAPABILITIES if agent is None else agent
        answer = {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [], **result}
        self.do(Side.CLIENT, "initialize", params, answer)

    def new_session(self, session_id: str = "s1", **result: Any) -> None:
        params = {"cwd": "/w", "mcpServers": []}
        self.do(Side.CLIENT, "session/new", params, {"sessionId": session_id, **result})

    def prompt(self, session_id: str = "s1") -> RequestId:
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": "hi"}]}
        return self.ask(Side.CLIENT, "session/prompt", params)

    def update(self, kind: str, session_id: str = "s1", **members: Any) -> list[Event]:
        return self.tell(Side.AGENT, "session/update", update(kind, session_id, **members))

    def chunk(self, text: str = "x", session_id: str = "s1") -> list[Event]:
        return self.update("agent_message_chunk", session_id, content={"type": "text", "text": text})

    def permission(self, call_id: str = "c1", session_id: str = "s1", **call: Any) -> RequestId:
        return self.ask(Side.AGENT, "session/request_permission", permission(call_id, session_id, **call))

    def choose(self, id_: RequestId, option: str = "yes") -> list[Event]:
        return self.answer(Side.CLIENT, id_, selected(option))

    def end(self, id_: RequestId, reason: str = "end_turn") -> list[Event]:
        return self.answer(Side.AGENT, id_, {"stopReason": reason})

    def cancel(self, session_id: str = "s1") -> list[Event]:
        return self.tell(Side.CLIENT, "session/cancel", {"sessionId": session_id})

    # -- what they know

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [(who, verdict.reason) for who, verdict in self.found]

    def sessions(self, session_id: str = "s1") -> list[Session | None]:
        """The session as agent, client and observer know it."""
        ends = [*self.ends.values(), self.observer]
        return [end.conversation.sessions.get(session_id) for end in ends]

    def turn_states(self, id_: RequestId) -> set[str]:
        """The state of an active turn, as everybody sees it; empty when nobody knows an active one."""
        turns = [end.conversation.turn_of(id_) for end in (*self.ends.values(), self.observer)]
        return {turn.state.value for turn in turns if turn is not None}


def update(kind: str, session_id: str = "s1", **members: Any) -> dict[str, Any]:
    """The params of a `session/update`."""
    return {"sessionId": session_id, "update": {"sessionUpdate": kind, **members}}


def permission(call_id: str = "c1", session_id: str = "s1", **call: Any) -> dict[str, Any]:
    """The params of a `session/request_permission`."""
    return {"sessionId": session_id, "toolCall": {"toolCallId": call_id, **call}, "options": OPTIONS}


def selected(option: str = "yes") -> dict[str, Any]:
    """The result that chooses an option."""
    return {"outcome": {"outcome": "selected", "optionId": option}}


@pytest.fixture
def make_pair() -> Callable[..., Pair]:
    """Makes a pair that has not been initialised; policies for agent, client and observer."""

    def make(agent: Policy = STRICT, client: Policy = STRICT, observer: Policy = STRICT) -> Pair:
        return Pair(agent, client, observer)

    return make


@pytest.fixture
def pair(make_pair: Callable[..., Pair]) -> Pair:
    """A pair that can do everything, with session `s1` open."""
    pair = make_pair()
    pair.initialise()
    pair.new_session()
    return pair


@pytest.fixture
def wire() -> Any:
    """The builders of lines and payloads, for tests that write them by hand."""

    class Wire:
        line = staticmethod(line)
        update = staticmethod(update)
        permission = staticmethod(permission)
        selected = staticmethod(selected)
        snapshot = staticmethod(snapshot)
        client_capabilities = CLIENT_CAPABILITIES
        agent_capabilities = AGENT_CAPABILITIES
        options = OPTIONS

    return Wire
