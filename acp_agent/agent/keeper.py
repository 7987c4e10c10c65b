"""Keeping sessions on disk, if that is enabled: when a session is saved, and what is said when it can't be.

A disk that is full or read-only costs a warning, never the conversation. Deliberately absent: files, locks and the
format (store.py and what it stands on).
"""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Final

from acp_agent.agent.log import Log
from acp_agent.agent.session import Session, new_session_id
from acp_agent.agent.store import SessionStore, StoredSession, StoreError

# An answer waits this long for its turn to be on disk: a client that has seen it can rely on it, a hanging disk or
# network share does not hold up the conversation.
_SAVE_S: Final = 1.0
_NOT_KEPT: Final = "sessions are not kept: [sessions] enabled is false"


class Keeper:
    """The saving of this process's sessions. store: None if sessions are not kept; then nothing happens here."""

    def __init__(self, store: SessionStore | None, log: Log) -> None:
        self._store = store
        self._log = log

    @property
    def keeps(self) -> bool:
        """Whether sessions are kept at all."""
        return self._store is not None

    def begin(self, session: Session) -> None:
        """Save a session that was just opened, at once: from now on it can be loaded."""
        if self._store is not None:
            try:
                self._store.save(session.id, session.cwd, session.history.records(), session.created)
            except StoreError as error:
                self._warn(session, error)

    async def keep(self, session: Session, within_s: float = math.inf) -> None:
        """Save a session as it is now; waits a moment for the disk, or less."""
        if self._store is None:
            return
        within_s = min(within_s, _SAVE_S)
        try:
            await self._save(self._store, session.id, session, within_s)
        except TimeoutError:
            self._log.say(
                f"session {session.id}: warning: saving takes more than {within_s:.1f} s, going on without"
            )
        except StoreError as error:
            self._warn(session, error)

    async def keep_apart(self, session: Session) -> str:
        """Save the conversation so far under a new id, which is returned. Raises StoreError."""
        if self._store is None:
            raise StoreError(_NOT_KEPT)
        kept_id = new_session_id()
        try:
            await self._save(self._store, kept_id, session, _SAVE_S)
        except BaseException as error:
            # Nobody will hear of the new id, also where a cancel came between: a copy that lands later is a stray.
            self._store.withdraw(kept_id)
            if isinstance(error, TimeoutError):
                raise StoreError(f"saving the conversation takes more than {_SAVE_S:g} s") from None
            raise
        self._store.release(kept_id)
        return kept_id

    def is_stored(self, session: Session) -> bool:
        """Whether there is something of the session on disk, as new as it may be."""
        return self._store is not None and self._store.is_stored(session.cwd, session.id)

    async def _save(self, store: SessionStore, session_id: str, session: Session, within_s: float) -> None:
        async with asyncio.timeout(within_s):
            await store.save_soon(session_id, session.cwd, session.history.records(), session.created)

    async def load(self, cwd: Path, session_id: str) -> StoredSession:
        """Lock a stored session and read it, once what is still to be written of it is on disk. Raises StoreError.

        It waits a moment for that.
        """
        if self._store is None:
            raise StoreError(_NOT_KEPT)
        try:
            async with asyncio.timeout(_SAVE_S):
                await self._store.settle(session_id)
        except TimeoutError:
            raise StoreError(f"saving session {session_id} takes more than {_SAVE_S:g} s") from None
        return self._store.open(cwd, session_id)

    def directory(self, cwd: Path) -> str:
        """Where sessions of a directory are kept, for a log line."""
        return str(self._store.directory(cwd)) if self._store is not None else ""

    async def end(self, timeout_s: float) -> None:
        """Write what is still to be written, within timeout_s, and let others open the sessions."""
        if self._store is None:
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._store.flush()
            self._store.close()
        except TimeoutError:
            self._log.say("warning: the disk is too slow, the last turn may not have been saved")
        except StoreError as error:
            self._log.say(f"warning: {error}")

    def _warn(self, session: Session, error: StoreError) -> None:
        self._log.say(f"session {session.id}: warning: {error}")
