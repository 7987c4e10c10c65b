"""Asking the user before a tool runs. Anything but a clear yes is a no.

Deliberately absent: what happens to the call then (tool_calls.py).
"""

from __future__ import annotations

import asyncio
from typing import Any

from acp_agent.agent.peer import Call, Peer
from acp_agent.agent.session import Session
from acp_agent.agent.updates import Update, permission_request
from acp_agent.protocol.events import ResponseReceived


class Permission:
    """The permission of one tool call; at most one is open at a time, since the calls of a turn run in order."""

    def __init__(self, peer: Peer, session: Session) -> None:
        self._peer = peer
        self._session = session
        self._open: Call | None = None

    async def ask(self, tool_name: str, announced: Update) -> bool:
        """Whether the tool may run: asks the client, unless this session always allows the tool."""
        if tool_name in self._session.allowed:
            return True
        self._open = self._peer.call(
            "session/request_permission", permission_request(self._session.id, announced)
        )
        answer = await self._open.answer
        self._open = None
        chosen = _chosen_option(answer)
        if chosen == "allow_always":
            self._session.allowed.add(tool_name)
        return chosen in {"allow", "allow_always"}

    async def settle(self, wait_s: float) -> None:
        """The turn ends: give the client a moment to answer what is open, then withdraw the question."""
        # The wait was cancelled with the turn, the question was not: it is waited for once more.
        call = self._peer.reopen(self._open) if self._open is not None else None
        self._open = None
        if call is None:
            return
        await asyncio.wait([call.answer], timeout=wait_s)
        if not call.answer.done() and self._peer.is_open:
            self._peer.withdraw(call)


def _chosen_option(answer: ResponseReceived) -> str | None:
    """The option id that was selected; None for a cancelled outcome and for an error."""
    if answer.error is not None:
        return None
    outcome: dict[str, Any] = answer.result["outcome"]
    option = outcome.get("optionId") if outcome["outcome"] == "selected" else None
    return option if isinstance(option, str) else None
