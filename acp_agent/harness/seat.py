"""Scenarios in this process: a client under test gets a seat, from which it starts the agent as two streams.

    async def client(seat: Seat) -> None:
        agent = await seat.start_agent()
        ...  # agent.reader and agent.writer are what the pipes of a child process would be

    result = await play_scenario("permission/reject", client)

Owns the connection and what counts as the client's end. Deliberately absent: clients that are commands (drive.py),
and what pytest makes of a result (pytest_plugin.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from acp_agent.harness.catalogue import UnknownScenario, select
from acp_agent.harness.display import read_display
from acp_agent.harness.drive import LEAVES_S, LINGER_S
from acp_agent.harness.part import read_parts
from acp_agent.harness.result import ClientExit, ScenarioResult, judge
from acp_agent.harness.scenario import Scenario, Step
from acp_agent.harness.serve import serve
from acp_agent.transport.stdio import Descriptors

DEFAULT_TIMEOUT_S: Final = 60.0
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""What a reader takes for one line: scenarios send lines of 16 MiB."""

DISPLAY: Final = "display.jsonl"
_AGENT_ENDS_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """One start of the agent. reader, writer: its standard output and input."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _task: asyncio.Task[int]

    async def wait(self) -> int:
        """Wait until the agent has ended; its exit code."""
        return await asyncio.shield(self._task)


class Seat:
    """What a client in this process is given. prompt: the text of the first prompt. cwd: the session's directory.

    plan: what its user does, and when (docs/harness.md).
    """

    def __init__(self, scenario: Scenario, directory: Path, cwd: Path) -> None:
        self.prompt = scenario.prompt
        self.cwd = cwd
        self.plan: list[Step] = [dict(step) for step in scenario.user]
        self._scenario = scenario
        self._directory = directory
        self._started = time.monotonic()
        self._agents: list[RunningAgent] = []

    async def start_agent(self) -> RunningAgent:
        """Start the agent, as often as the client likes: each start is a process of its own to the scenario."""
        ours, theirs = socket.socketpair()
        descriptors = Descriptors(ours.fileno(), socket.dup(ours.fileno()))
        ours.detach()
        stop = asyncio.Event()
        task = asyncio.create_task(
            serve(
                self._scenario, self._directory, descriptors, stop, driven=True, on_failure=lambda text: None
            )
        )
        reader, writer = await asyncio.open_connection(sock=theirs, limit=MAX_LINE_BYTES)
        self._agents.append(RunningAgent(reader, writer, task))
        return self._agents[-1]

    def show(self, kind: str, session: str = "", turn: int | None = None, **members: Any) -> None:
        """A line of the display record: what the client's user sees. Optional; see docs/harness.md for the kinds."""
        t = round(time.monotonic() - self._started, 4)
        record = {"t": t, "kind": kind, "session": session, "turn": turn, **members}
        with (self._directory / DISPLAY).open("ab") as file:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def judge(self, ending: ClientExit) -> ScenarioResult:
        """What came of it, once all is over."""
        display = read_display(self._directory / DISPLAY)
        return judge(self._scenario, read_parts(self._directory), ending, display)

    @property
    def has_agents(self) -> bool:
        """Whether the client has started one."""
        return bool(self._agents)

    @property
    def agent_runs(self) -> bool:
        """Whether one is still running."""
        return any(not agent._task.done() for agent in self._agents)

    @property
    def longest_agent_s(self) -> float:
        """How long one can run at most."""
        return self._scenario.deadline_s + LEAVES_S

    async def agents_end(self) -> None:
        """Wait until no agent runs; each ends by itself, sooner or later."""
        while running := [agent._task for agent in self._agents if not agent._task.done()]:
            await asyncio.wait(running)

    async def close(self) -> None:
        """The client is gone: what it has left open is closed, as the end of a process does, and the agents end."""
        for agent in self._agents:
            agent.writer.close()
            with contextlib.suppress(OSError):
                await agent.writer.wait_closed()
        tasks = [agent._task for agent in self._agents]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_AGENT_ENDS_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


Client = Callable[[Seat], Awaitable[object]]
"""A client in this process. What it returns is its exit code if it is a whole number; an exception is a 1."""


async def play_scenario(
    scenario: str | Scenario,
    client: Client,
    *,
    directory: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> ScenarioResult:
    """Play one scenario with a client in this process, and judge it.

    scenario: an id, or the name of its menu command. directory: for the raw record and the like, kept when it is given.
    timeout_s: after that the client counts as hanging, and is cancelled. Raises UnknownScenario.
    """
    chosen = _one(scenario)
    with tempfile.TemporaryDirectory(prefix="acp-harness-", ignore_cleanup_errors=True) as made:
        seat = _prepare(chosen, Path(made), directory)
        ending = await _run(client, seat, timeout_s)
        await seat.close()
        return seat.judge(ending)


def _prepare(scenario: Scenario, temporary: Path, directory: Path | None) -> Seat:
    cwd = temporary.resolve() / "project"
    cwd.mkdir()
    home = (directory or temporary / "report") / scenario.command
    home.mkdir(parents=True, exist_ok=True)
    for leftover in (*home.glob("part-*"), *home.glob("trace-*"), home / DISPLAY):
        leftover.unlink(missing_ok=True)
    return Seat(scenario, home, cwd)


def _one(scenario: str | Scenario) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    found = select([scenario])
    if len(found) != 1:
        raise UnknownScenario(f"{scenario!r} names {len(found)} scenarios; one is played at a time")
    return found[0]


async def _run(client: Client, seat: Seat, timeout_s: float) -> ClientExit:
    started = time.monotonic()
    exit_code: int | None = None
    hung, cut_off, output = False, False, ""

    async def main() -> object:
        return await client(seat)

    task = asyncio.create_task(main())
    if not await _ends(task, seat, timeout_s):
        hung, cut_off = True, seat.agent_runs
        task.cancel()
        await asyncio.wait([task], timeout=_AGENT_ENDS_S)
    elif task.cancelled():
        exit_code, output = 1, "the client was cancelled"
    elif (error := task.exception()) is not None:
        exit_code, output = 1, "".join(traceback.format_exception(error))
    else:
        returned = task.result()
        exit_code = returned if isinstance(returned, int) and not isinstance(returned, bool) else 0
    return ClientExit(exit_code, hung, output, round(time.monotonic() - started, 3), cut_off)


async def _ends(task: asyncio.Task[object], seat: Seat, timeout_s: float) -> bool:
    """Wait for the client to end; whether it does within timeout_s, or not long after its last agent."""
    await asyncio.wait([task], timeout=timeout_s)
    if not task.done() and seat.has_agents:
        agents = asyncio.create_task(seat.agents_end())
        await asyncio.wait([task, agents], timeout=seat.longest_agent_s, return_when=asyncio.FIRST_COMPLETED)
        agents.cancel()
        await asyncio.wait([task], timeout=min(timeout_s, LINGER_S))
    return task.done()
