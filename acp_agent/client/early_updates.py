"""Updates of a session whose `session/new` is not answered yet: kept, and handed on when the session is known.

Agents announce commands or a mode before the answer that names the session; a client that drops them never shows
them (R-308). Bounded in number and bytes. Deliberately absent: what the lines mean; the client judges them again
when the session exists.
"""

from __future__ import annotations

from typing import Final

from acp_agent.protocol.events import ProtocolViolation

MOST_LINES: Final = 1000
MOST_BYTES: Final = 16 * 1024 * 1024


class EarlyUpdates:
    """The lines, by the session they name, in the order of their arrival."""

    def __init__(self) -> None:
        self._held: list[tuple[str, bytes, ProtocolViolation]] = []
        self._bytes = 0

    def hold(self, session_id: str, line: bytes, violation: ProtocolViolation) -> bool:
        """Keep a line and what the core thinks of it; False if there is no room."""
        if len(self._held) >= MOST_LINES or self._bytes + len(line) > MOST_BYTES:
            return False
        self._held.append((session_id, line, violation))
        self._bytes += len(line)
        return True

    def take(self, session_id: str) -> list[bytes]:
        """The lines of a session that is known now; they are not held any more."""
        taken = [line for held_id, line, _ in self._held if held_id == session_id]
        self._held = [held for held in self._held if held[0] != session_id]
        self._bytes -= sum(len(line) for line in taken)
        return taken

    def take_rest(self) -> list[ProtocolViolation]:
        """All findings that are left, for sessions that never became known."""
        rest = [violation for _, _, violation in self._held]
        self._held.clear()
        self._bytes = 0
        return rest
