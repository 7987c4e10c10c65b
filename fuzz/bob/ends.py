"""Bob's side of a connection in this process, and a strict client at its other end that accuses him of what he does.

Owns the wire between them, without descriptors and without a server: what Bob posts is read by a client's connection,
and by an observer, at once and in order. Deliberately absent: what the client says and when (targets), the model and
the tools.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_agent.agent.engine import Engine, specs
from acp_agent.agent.history import History
from acp_agent.agent.keeper import Keeper
from acp_agent.agent.log import Log
from acp_agent.agent.peer import Peer
from acp_agent.agent.server import POLICY
from acp_agent.agent.session import Session
from acp_agent.agent.skills import Skills
from acp_agent.agent.turn_queue import TurnQueue
from acp_agent.config import ContextSettings, LimitSettings
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.llm.model import Model
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
)
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.verdicts import Severity
from acp_agent.tools.registry import ToolRegistry
from acp_agent.transport.outbox import Outbox

SESSION = "s1"
_CROSSING = (Severity.SUSPECT, Severity.WARNING)
_CLIENT = Policy(strict=True, queue_prompts=True)


class Said(Log):
    """Keeps the lines."""

    def __init__(self) -> None:
        super().__init__(debug=True)
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def trace(self, error: BaseException) -> None:
        """Its sentence is said as well."""

    @property
    def unexpected(self) -> list[str]:
        """Lines that tell of a mistake of ours."""
        return [line for line in self.lines if "unexpectedly" in line or "ended badly" in line]


class Ends:
    """Both ends, with one session open.

    events: what the client has got, in order. Raises AssertionError as soon as one end sends what is illegal.
    """

    def __init__(
        self,
        model: Model,
        tools: ToolRegistry,
        *,
        cwd: Path = Path("/work"),
        limits: LimitSettings = LimitSettings(),  # noqa: B008 - frozen
        context: ContextSettings = ContextSettings(),  # noqa: B008 - frozen
        skills: Skills | None = None,
        outbox_bytes: int = 1 << 20,
    ) -> None:
        self.log = Said()
        self.events: list[Event] = []
        self._connection = Connection(Role.AGENT, POLICY)
        self._client = Connection(Role.CLIENT, _CLIENT)
        self._outbox = Outbox(outbox_bytes)
        self.peer = Peer(self._connection, self._outbox)
        self.session = Session(SESSION, cwd, History("system"), skills or Skills())
        keeper = Keeper(None, self.log)
        engine = Engine(model, tools, specs(tools), limits, context, keeper, self.log)
        self.turns = TurnQueue(self.peer, engine)
        self._do("initialize", {"protocolVersion": 1}, {"protocolVersion": 1, "agentCapabilities": {}})
        self._do("session/new", {"cwd": str(cwd), "mcpServers": []}, {"sessionId": SESSION})

    def _do(self, method: str, params: dict[str, Any], result: dict[str, Any]) -> None:
        id_, line = self._client.request(method, params)
        self._arrives(line)
        self.peer.respond(id_, result)
        self.read()

    # -- the client speaks

    def begin(self, text: str) -> Any:
        """A prompt is sent, and no turn is begun for it; its id."""
        block = {"type": "text", "text": text}
        id_, line = self._client.request("session/prompt", {"sessionId": SESSION, "prompt": [block]})
        self._arrives(line)
        return id_

    def prompt(self, text: str) -> Any:
        """A prompt is sent, and Bob queues its turn; its id."""
        id_ = self.begin(text)
        self.turns.add(id_, self.session, text)
        return id_

    def cancel(self) -> None:
        """The client cancels, and Bob reads it."""
        self._arrives(self._client.notify("session/cancel", {"sessionId": SESSION}))
        self.turns.cancel(lambda turn: turn.session.id == SESSION)

    def is_unanswered(self, id_: Any) -> bool:
        """Whether Bob has not answered a request yet, not even with a line that the client has not read."""
        return any(call.id == id_ for call in self._connection.conversation.open[Side.CLIENT])

    def answer(self, id_: Any, result: dict[str, Any] | None) -> None:
        """The client answers a request of Bob's; None: with an error."""
        if result is None:
            self._arrives(self._client.respond_error(id_, RpcError(-32603, "no dialog")))
        else:
            self._arrives(self._client.respond(id_, result))

    def _arrives(self, line: bytes) -> None:
        for event in self._connection.receive(line):
            if isinstance(event, ProtocolViolation):
                assert event.verdict.severity in _CROSSING, f"of the client: {event.verdict}"
            if isinstance(event, ResponseReceived):
                self.peer.settle(event)

    # -- the client reads

    def read(self) -> list[Event]:
        """What Bob has posted since the last time."""
        found: list[Event] = []
        while self._outbox.pending_bytes:
            data = b"".join(bytes(segment) for segment in self._outbox.head())
            self._outbox.taken(len(data))
            found += self._client.receive(data)
        for event in found:
            if isinstance(event, ProtocolViolation):
                assert event.verdict.severity in _CROSSING, f"of Bob: {event.verdict}"
        self.events += found
        return found

    def updates(self) -> list[dict[str, Any]]:
        """The updates so far."""
        return [
            event.params["update"]
            for event in self.events
            if isinstance(event, NotificationReceived) and event.method == "session/update"
        ]

    def answers(self, id_: Any) -> list[ResponseReceived]:
        """The answers to one request so far."""
        return [event for event in self.events if isinstance(event, ResponseReceived) and event.id == id_]

    def requests(self) -> list[RequestReceived]:
        """Bob's requests so far."""
        return [event for event in self.events if isinstance(event, RequestReceived)]
