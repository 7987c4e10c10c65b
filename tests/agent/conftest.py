"""The conversation of one turn, wired in this process: Bob's side, a client by hand, a model and a tool by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.engine import Engine, specs
from acp_agent.agent.history import History
from acp_agent.agent.keeper import Keeper
from acp_agent.agent.log import Log
from acp_agent.agent.peer import Peer
from acp_agent.agent.server import POLICY
from acp_agent.agent.session import Session
from acp_agent.agent.skills import Skills
from acp_agent.config import ContextSettings, LimitSettings
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.llm.model import (
    Finished,
    FinishReason,
    Message,
    ModelEvent,
    TextDelta,
    ToolCallReady,
    ToolSpec,
)
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import ResponseReceived
from acp_agent.tools.base import ToolResult
from acp_agent.tools.registry import ToolRegistry
from acp_agent.transport.outbox import Outbox

DEADLINE_S = 20.0

Step = ModelEvent | BaseException | Callable[[], Awaitable[None]]


class Said(Log):
    """Keeps the lines instead of writing them."""

    def __init__(self) -> None:
        super().__init__(debug=True)
        self.lines: list[str] = []
        self.traced: list[BaseException] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def trace(self, error: BaseException) -> None:
        self.traced.append(error)


class HandModel:
    """Plays one list of steps a call: an event is given out, an exception raised, a function awaited."""

    label = "a model by hand"

    def __init__(self, *replies: Sequence[Step]) -> None:
        self.replies = [list(reply) for reply in replies]
        self.asked: list[list[Message]] = []
        self.closed = 0

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append([dict(message) for message in messages])
        try:
            for step in self.replies.pop(0) if self.replies else [Finished(FinishReason.STOP, None)]:
                if isinstance(step, BaseException):
                    raise step
                if callable(step):
                    await step()
                else:
                    yield step
        finally:
            self.closed += 1

    async def aclose(self) -> None:
        pass


class HandTool:
    """A tool that does what the test says."""

    description = "for tests"
    kind = "execute"
    counts_as = "command"
    needs_permission = True

    def __init__(self, name: str = "work") -> None:
        self.name = name
        self.parameters: dict[str, object] = {"type": "object", "properties": {"what": {"type": "string"}}}
        self.ran: list[dict[str, object]] = []
        self.act: Callable[[dict[str, object]], Awaitable[ToolResult]] = self._done

    async def _done(self, arguments: dict[str, object]) -> ToolResult:
        return ToolResult("done")

    def title(self, arguments: dict[str, object]) -> str:
        return f"{self.name}: {arguments.get('what', '')}"

    def locations(self, arguments: dict[str, object], cwd: Path) -> list[str]:
        return [str(cwd / "file")] if arguments.get("what") == "file" else []

    async def run(self, arguments: dict[str, object], cwd: Path) -> ToolResult:
        self.ran.append(arguments)
        return await self.act(arguments)


class Wired:
    """Bob's side of a connection with an open session, and the client's side by hand."""

    def __init__(self, cwd: Path, *, limit_bytes: int = 1 << 20) -> None:
        self.connection = Connection(Role.AGENT, POLICY)
        self.outbox = Outbox(limit_bytes)
        self.peer = Peer(self.connection, self.outbox)
        self.tool = HandTool()
        self.tools = ToolRegistry([self.tool])
        self.log = Said()
        self.session = Session("s1", cwd, History("system"), Skills())
        self.sent: list[dict[str, Any]] = []
        self._number = 100
        self.receive(
            {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {"protocolVersion": 1}}
        )
        self.peer.respond("init", {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []})
        new = {"cwd": str(cwd), "mcpServers": []}
        self.receive({"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": new})
        self.peer.respond("new", {"sessionId": "s1"})
        self.take()
        self.sent.clear()

    def engine(self, model: HandModel, keeper: Keeper | None = None, **limits: int) -> Engine:
        """limits: members of LimitSettings."""
        keeps = keeper or Keeper(None, self.log)
        return Engine(
            model, self.tools, specs(self.tools), LimitSettings(**limits), ContextSettings(), keeps, self.log
        )

    def receive(self, message: dict[str, Any]) -> None:
        """A line of the client; responses reach whoever waits for them."""
        for event in self.connection.receive_line(json.dumps(message).encode()):
            if isinstance(event, ResponseReceived):
                self.peer.settle(event)

    def prompt(self, id_: object = "p1") -> object:
        """The client's prompt, as far as the connection is concerned."""
        params = {"sessionId": "s1", "prompt": []}
        self.receive({"jsonrpc": "2.0", "id": id_, "method": "session/prompt", "params": params})
        return id_

    def cancel(self) -> None:
        self.receive({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}})

    def take(self) -> list[dict[str, Any]]:
        """Read what was posted since the last time; also kept in `sent`."""
        data = b"".join(bytes(segment) for segment in self.outbox.head())
        while self.outbox.pending_bytes > len(data):
            self.outbox.taken(len(data))
            data += b"".join(bytes(segment) for segment in self.outbox.head())
        self.outbox.taken(self.outbox.pending_bytes)
        new = [json.loads(line) for line in data.splitlines()]
        self.sent += new
        return new

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read until a message fits."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                for message in self.take():
                    if wanted(message):
                        return message
                await asyncio.sleep(0)

    async def permission(self) -> dict[str, Any]:
        return await self.until(lambda message: message.get("method") == "session/request_permission")

    def choose(self, request: dict[str, Any], option: str = "allow") -> None:
        outcome = {"outcome": "selected", "optionId": option}
        if option == "cancelled":
            outcome = {"outcome": "cancelled"}
        self.receive({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})

    @property
    def updates(self) -> list[dict[str, Any]]:
        return [
            message["params"]["update"] for message in self.sent if message.get("method") == "session/update"
        ]

    def answers(self, id_: object) -> list[dict[str, Any]]:
        return [message for message in self.sent if "method" not in message and message["id"] == id_]


class Kit:
    """What the tests of this directory build with; pytest gives it to them as a fixture."""

    Wired = Wired
    HandModel = HandModel
    HandTool = HandTool
    Said = Said

    @staticmethod
    def run(scenario: Coroutine[Any, Any, None]) -> None:
        """Run a scenario, at most DEADLINE_S long."""

        async def bounded() -> None:
            async with asyncio.timeout(DEADLINE_S):
                await scenario

        asyncio.run(bounded())

    @staticmethod
    def wish(
        what: str = "x", id_: str = "t1", name: str = "work", arguments: str | None = None
    ) -> ToolCallReady:
        return ToolCallReady(id_, name, json.dumps({"what": what}) if arguments is None else arguments)

    @staticmethod
    def stop(reason: FinishReason = FinishReason.STOP) -> Finished:
        return Finished(reason, None)

    @staticmethod
    def text(text: str) -> TextDelta:
        return TextDelta(text)

    @staticmethod
    def error(code: int, message: str) -> RpcError:
        return RpcError(code, message)


@pytest.fixture
def kit() -> type[Kit]:
    return Kit


@pytest.fixture
def wired(tmp_path: Path) -> Wired:
    """A connection with the open session s1."""
    return Wired(tmp_path)
