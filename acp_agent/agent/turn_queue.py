"""The queue of prompt turns: one at a time for the whole process, first come first served.

Owns which turn runs and which wait, and the task that runs them. Imported with the first prompt: models, tools and
child processes are not needed before. Deliberately absent: what a turn does (turn.py).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from acp_agent.agent.engine import Engine
from acp_agent.agent.peer import Peer
from acp_agent.agent.session import Session
from acp_agent.agent.turn import PromptTurn
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.process import end_all, end_lingering


class TurnQueue:
    """Turns of all sessions. Every method but `end` acts at once and never waits."""

    def __init__(self, peer: Peer, engine: Engine) -> None:
        self._peer = peer
        self._engine = engine
        self._waiting: deque[PromptTurn] = deque()
        self._running: PromptTurn | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, request_id: RequestId, session: Session, text: str) -> None:
        """Queue the turn of a prompt; it starts when all before it have been answered."""
        self._waiting.append(PromptTurn(request_id, session, text, self._peer, self._engine))
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    def cancel(self, concerns: Callable[[PromptTurn], bool]) -> None:
        """Cancel turns that were sent before this: the running one stops, those that wait are answered at once."""
        if self._running is not None and concerns(self._running):
            self._running.cancel()
        for turn in [turn for turn in self._waiting if concerns(turn)]:
            self._waiting.remove(turn)
            turn.cancel()
            turn.drop()

    def stop(self) -> None:
        """The program ends: stop what runs, answer what waits."""
        if self._running is not None:
            self._running.stop()
        for turn in self._waiting:
            turn.stop()
            turn.drop()
        self._waiting.clear()

    async def end(self, timeout_s: float) -> None:
        """Wait, at most timeout_s seconds, until what was stopped has come to its end, every child too."""
        ending: set[asyncio.Task[None]] = {asyncio.ensure_future(end_all())}
        if self._task is not None:
            ending.add(self._task)
        _, late = await asyncio.wait(ending, timeout=timeout_s)
        for task in late:
            task.cancel()

    async def _run(self) -> None:
        try:
            while self._waiting:
                self._running = self._waiting.popleft()
                try:
                    await self._running.run()
                except Exception as error:  # noqa: BLE001 - a bug at the end of one turn must not hold up the others
                    self._engine.log.say(f"a turn ended badly: {type(error).__name__}: {error}")
                    self._engine.log.trace(error)
                finally:
                    self._running = None
                await end_lingering()
        finally:
            self._task = None
