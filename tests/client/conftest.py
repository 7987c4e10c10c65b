"""The fake agent as a command, what a Client told and sent, a person at a terminal, a deadline for everything."""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acp_agent.client.client import Client, Limits
from acp_agent.client.events import AgentMisbehaved, ClientEvent, PermissionAnswered, UpdateReceived

DEADLINE_S = 30.0
"""No test waits longer; none waits at all unless something is broken."""

FAKE_AGENT = Path(__file__).with_name("fake_agent.py")


def fake_command(conduct: str) -> list[str]:
    """The command line of the fake agent with this conduct."""
    return [sys.executable, str(FAKE_AGENT), conduct]


@dataclass
class Talk:
    """One agent under a Client. cwd: where it works; log: what the client sent, as the agent read it."""

    cwd: Path
    events: list[ClientEvent] = field(default_factory=list)
    stderr: bytearray = field(default_factory=bytearray)

    @asynccontextmanager
    async def client(self, conduct: str, **options: Any) -> AsyncIterator[Client]:
        """A Client of the fake agent; closed at the end."""
        options.setdefault("on_event", self.events.append)
        options.setdefault("limits", Limits(answer_s=DEADLINE_S, exit_grace_s=5.0))
        environ = {**os.environ, "FAKE_AGENT_LOG": str(self.cwd / "sent.log")}
        client = await Client.start(
            fake_command(conduct), cwd=self.cwd, env=environ, on_stderr=self.stderr.extend, **options
        )
        async with client:
            yield client

    @asynccontextmanager
    async def session(self, conduct: str, **options: Any) -> AsyncIterator[tuple[Client, str]]:
        """The same with the handshake done and a session open."""
        async with self.client(conduct, **options) as client:
            await client.initialize()
            yield client, await client.new_session(self.cwd)

    def run(self, scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a scenario to its end, within the deadline."""

        async def bounded() -> None:
            async with asyncio.timeout(DEADLINE_S):
                await scenario()

        asyncio.run(bounded())

    def sent(self) -> list[Any]:
        """The messages the client sent, `"EOF"` for the end of the agent's input."""
        path = self.cwd / "sent.log"
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def answers(self) -> dict[Any, Any]:
        """The client's responses, by id."""
        return {
            message["id"]: message.get("result", message.get("error"))
            for message in self.sent()
            if isinstance(message, dict) and "method" not in message
        }

    def text(self, turn: int | None = 1) -> str:
        """The agent's text of one turn, as it came."""
        return "".join(
            event.update["content"]["text"]
            for event in self.events
            if isinstance(event, UpdateReceived)
            and event.turn == turn
            and event.update["sessionUpdate"] == "agent_message_chunk"
        )

    def updates(self, kind: str) -> list[UpdateReceived]:
        """The updates of one kind."""
        return [
            event
            for event in self.events
            if isinstance(event, UpdateReceived) and event.update["sessionUpdate"] == kind
        ]

    def misbehaviour(self) -> list[str]:
        """The slugs of what the agent was found to do wrong."""
        return [event.verdict.reason for event in self.events if isinstance(event, AgentMisbehaved)]

    def permissions_answered(self) -> list[tuple[str, str | None, bool]]:
        """(tool call, option, cancelled) of each answered permission, in order."""
        return [
            (event.request.tool_call_id, event.option_id, event.cancelled)
            for event in self.events
            if isinstance(event, PermissionAnswered)
        ]


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """A Talk in a directory of its own."""
    return Talk(tmp_path)


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], Awaitable[None]]:
    """Wait on the loop until a condition holds; the scenario's deadline bounds it."""

    async def wait(condition: Callable[[], bool]) -> None:
        while not condition():  # noqa: ASYNC110 - of many kinds, and nobody who would set an event
            await asyncio.sleep(0.005)

    return wait


@pytest.fixture
def fake() -> Callable[[str], list[str]]:
    """The command line of the fake agent with a conduct."""
    return fake_command


class PersonAtTerminal:
    """`acp-agent` on a terminal of its own: what is typed, and what is read."""

    # The terminal must be the controlling one of a new session, or Ctrl-C would signal nobody.
    _TAKE_TERMINAL = "; ".join(
        [
            "import fcntl, os, sys, termios",
            "fcntl.ioctl(0, termios.TIOCSCTTY, 0)",
            "os.execv(sys.argv[1], sys.argv[1:])",
        ]
    )

    def __init__(self, arguments: list[str], cwd: Path, environ: dict[str, str]) -> None:
        self._master, terminal = pty.openpty()
        python = [sys.executable, "-c", self._TAKE_TERMINAL]
        self.process = subprocess.Popen(
            [*python, sys.executable, "-P", "-m", "acp_agent", *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", **environ},
            start_new_session=True,
        )
        os.close(terminal)
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._from = 0

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read_until(self, text: str) -> str:
        """What appears up to and with this text, since the last call."""
        deadline = time.monotonic() + DEADLINE_S
        while (at := self.seen.find(text, self._from)) < 0:
            ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text!r} did not appear after:\n{self.seen}")
            if not self._read():
                raise AssertionError(f"{text!r} did not appear before the end:\n{self.seen}")
        found = self.seen[self._from : at + len(text)]
        self._from = at + len(text)
        return found

    def exit_code(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(DEADLINE_S)

    def _read(self) -> bool:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self.seen += self._decoder.decode(data)
        return bool(data)

    def leave(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


@pytest.fixture
def at_terminal(tmp_path: Path) -> Iterator[Callable[..., PersonAtTerminal]]:
    """Start `acp-agent` with these arguments on a terminal; gone at the end of the test."""
    started = []

    def start(*arguments: str, **environ: str) -> PersonAtTerminal:
        started.append(PersonAtTerminal(list(arguments), tmp_path, environ))
        return started[-1]

    yield start
    for person in started:
        person.leave()
