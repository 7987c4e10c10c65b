"""A client in this process that does what a test says, to play a scenario with: for clients that are odd but right."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from acp_agent.harness.catalogue import select
from acp_agent.harness.display import Display
from acp_agent.harness.play import Performance
from acp_agent.harness.result import ClientExit, ScenarioResult, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire

Message = dict[str, Any]


class Puppet:
    """The client's end of a connection, and the Port of the agent's.

    answers: what it says to a request, by method; a callable gets the params. Without one: -32601. Answers come after
    delay_s; a method in holds gets none. asked: all requests; notices: all notifications but updates. shown: the
    display record, in which the text of messages and the ends of turns are put down by `prompt`.
    """

    def __init__(self, scenario: Scenario) -> None:
        wire = Wire(self)
        self.performance = Performance(scenario, wire, StandIn(wire, scenario.offer))
        self.answers: dict[str, Any] = {}
        self.delay_s = 0.0
        self.holds: set[str] = set()
        self.asked: list[Message] = []
        self.notices: list[Message] = []
        self.updates: list[Message] = []
        self.shown: list[Message] = []
        self.text = ""
        self.session = ""
        self.turn = 0
        self._received = b""
        self._heard = asyncio.Event()
        self._calls: dict[int, asyncio.Future[Message]] = {}
        self._next_id = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what a test does with it

    async def call(self, method: str, params: Message) -> Message:
        """A request; returns the response, whatever it is."""
        self._next_id += 1
        self._calls[self._next_id] = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return await self._calls[self._next_id]

    def notify(self, method: str, params: Message) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Message) -> None:
        self.performance.feed(orjson.dumps(message) + b"\n")

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the agent go on until it is so, looked at after each of its messages."""
        while not condition():
            self._heard.clear()
            await self._heard.wait()

    def leave(self) -> None:
        self.performance.feed(b"")

    async def hello(self, **capabilities: Any) -> Message:
        params = {"protocolVersion": 1, "clientCapabilities": capabilities}
        return await self.call("initialize", params)

    async def open(self, cwd: str = "/project") -> Message:
        """session/new; its id is used from then on, if there is one."""
        answer = await self.call("session/new", {"cwd": cwd, "mcpServers": []})
        self.session = answer.get("result", {}).get("sessionId", self.session)
        return answer

    async def prompt(self, text: str = "Hello.") -> Message:
        self.turn += 1
        self.text = ""
        params = {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}
        answer = await self.call("session/prompt", params)
        reason = answer.get("result", {}).get("stopReason")
        self.show("end", stopReason=reason, text=self.text)
        return answer

    def show(self, kind: str, **members: Any) -> None:
        self.shown.append({"kind": kind, "session": self.session, "turn": self.turn, **members})

    # -- the Port of the agent

    def post(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            # Not at once: the agent is in the middle of something.
            asyncio.get_running_loop().call_soon(self._hear, line)

    async def flushed(self) -> None:
        await asyncio.sleep(0)

    async def fetched(self) -> None:
        await asyncio.sleep(0)

    def close_output(self) -> None:
        pass

    # -- hearing

    def _hear(self, line: bytes) -> None:
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            return
        if "method" not in message:
            self._calls[message["id"]].set_result(message)
        elif "id" in message:
            task = asyncio.get_running_loop().create_task(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif message["method"] == "session/update":
            update = message["params"]["update"]
            self.updates.append(update)
            if update["sessionUpdate"] == "agent_message_chunk":
                self.text += update["content"].get("text", "")
        else:
            self.notices.append(message)
        self._heard.set()

    async def _answer(self, message: Message) -> None:
        self.asked.append(message)
        self._heard.set()
        if message["method"] in self.holds:
            return
        await asyncio.sleep(self.delay_s)
        made = self.answers.get(message["method"], {"error": {"code": -32601, "message": "Method not found"}})
        if callable(made):
            made = made(message["params"])
        self.send({"jsonrpc": "2.0", "id": message["id"], **made})


Script = Callable[[Puppet], Awaitable[None]]
Play = Callable[..., ScenarioResult]


async def _play(scenario: Scenario, script: Script, *, exit_code: int, records: bool) -> ScenarioResult:
    puppet = Puppet(scenario)
    agent = asyncio.create_task(puppet.performance.play())
    async with asyncio.timeout(30):
        await script(puppet)
        puppet.leave()
        await agent
    display = Display(tuple(puppet.shown)) if records else None
    return judge(scenario, [puppet.performance.collect()], ClientExit(exit_code), display)


async def _no_pause(stage: Stage, seconds: float) -> None:
    """A client in this process has no other threads that could lag behind."""
    await asyncio.sleep(0)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays a scenario with a script of the client and judges it. records: whether there is a display record."""
    monkeypatch.setattr(Stage, "pause", _no_pause)

    def run(scenario: str, script: Script, *, exit_code: int = 0, records: bool = False) -> ScenarioResult:
        (found,) = select([scenario])
        result = asyncio.run(_play(found, script, exit_code=exit_code, records=records))
        assert result.errors == ()
        return result

    return run
