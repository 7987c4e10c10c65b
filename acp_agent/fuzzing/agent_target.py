"""An agent as a target: plans are played against it, many on one process while all is well, and what came of each.

A process that has seen trouble, or plans enough, is ended in order (which is looked at too) and another one started.
A plan that must stand alone, to confirm or to shorten a find, gets a process of its own.
Deliberately absent: which plans (campaign.py), what is wrong (judge.py, exchange.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from acp_agent.fuzzing.collector import held
from acp_agent.fuzzing.coverage import Edge
from acp_agent.fuzzing.exchange import Deadlines, Exchange, Slice
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.peer import Peer
from acp_agent.fuzzing.player import Player
from acp_agent.fuzzing.program import EndInput, Program

PLANS_A_PROCESS: Final = 40
"""After so many a process has shown how it ends, and the record of its connection is long enough."""


class Outcome(NamedTuple):
    """What came of one plan. messages: how many lines went both ways on its connection, new_messages: for this plan.

    own: what the client did wrong. slices: the record of the whole connection. alone: whether the plan was the only one
    on its process.
    """

    findings: tuple[Finding, ...]
    messages: int
    new_messages: int
    own: tuple[str, ...]
    slices: tuple[Slice, ...]
    edges: frozenset[Edge]
    rules: frozenset[str]
    alone: bool


class AgentTarget:
    """Plays plans against the agent that `command` starts, in the directory we are in; sessions work in `root`.

    Must be closed.

    Raises CannotStartAgent when the first process is needed. processes: how many were started.
    """

    def __init__(
        self, command: Sequence[str], root: Path, deadlines: Deadlines, env: Mapping[str, str] | None = None
    ) -> None:
        self.command = tuple(command)
        self.processes = 0
        self._root = root
        self._deadlines = deadlines
        self._env = env
        self._shared: tuple[Exchange, Player] | None = None
        self._plans = 0

    def play(self, program: Program, *, alone: bool = False) -> Outcome:
        """Play a plan, on the shared process if the plan allows it. What is found at the process's end counts too."""
        alone = (
            alone or not program.usual_handshake or any(isinstance(s.action, EndInput) for s in program.steps)
        )
        if alone:
            exchange = player = None
            try:
                with held():
                    exchange, player = self._start()
                player.begin(program)
                if exchange.alive:
                    player.play(program)
                exchange.end()
            finally:
                if exchange is not None:
                    exchange.peer.close()
            return _outcome(exchange, 0, 0, alone=True)
        if self._shared is None:
            with held():
                exchange, player = self._shared = self._start()
            self._plans = 0
            player.begin(program)
        exchange, player = self._shared
        judge = exchange.judge
        before, written = (0, 0) if self._plans == 0 else (len(judge.findings), judge.messages)
        if exchange.alive:
            player.play(program)
        self._plans += 1
        failed = len(judge.findings) > before
        if failed or not exchange.alive or self._plans >= PLANS_A_PROCESS:
            self._end_shared()
        return _outcome(exchange, before, written, alone=self._plans == 1)

    def close(self) -> None:
        """End the shared process, whatever it is doing."""
        if self._shared is not None:
            self._shared[0].peer.close()
            self._shared = None

    def _start(self) -> tuple[Exchange, Player]:
        self.processes += 1
        exchange = Exchange(Peer(self.command, Path.cwd(), self._env), self._deadlines)
        return exchange, Player(exchange, self._root)

    def _end_shared(self) -> None:
        if self._shared is not None:
            exchange = self._shared[0]
            self._shared = None
            try:
                exchange.end()
            finally:
                exchange.peer.close()


def _outcome(exchange: Exchange, before: int, written: int, *, alone: bool) -> Outcome:
    judge = exchange.judge
    return Outcome(
        tuple(judge.findings[before:]),
        judge.messages,
        judge.messages - written,
        tuple(judge.own),
        tuple(exchange.slices),
        frozenset(judge.coverage.edges),
        frozenset(judge.tried),
        alone,
    )
