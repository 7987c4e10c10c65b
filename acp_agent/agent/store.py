"""Where sessions are kept: one file each, in a directory that belongs to the session's cwd or to the whole user.

Owns which sessions this process has open, their locks, and the order of their saves. A session is never written
without its lock, nor over a file that another process has written since it was read or written here. What could not be
written is kept and tried again by the next save, a reload, `release` and the end. Deliberately absent: the format
(stored_session.py), how a file is replaced (session_files.py), the lock itself (session_lock.py), and when a session
is to be saved.

In the directory: `<id>.json`; `<id>.lock` while a process has the session open; `<id>.json.tmp` while it is written,
or after a crash, until the next save; `.gitignore`, so that conversations are not committed by accident.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from acp_agent.agent import session_files
from acp_agent.agent.session_lock import LockedError, SessionLock
from acp_agent.agent.stored_session import (
    SessionInfo,
    StoredSession,
    StoreError,
    check_id,
    from_json,
    is_session_id,
    summary_of,
    to_json,
)
from acp_agent.llm.model import Message

__all__ = ["SessionInfo", "SessionStore", "StoreError", "StoredSession"]


class UnknownSessionError(StoreError):
    """There is no such session."""


class ChangedError(StoreError):
    """Another process has written the session while it was open here without its lock."""


class _Snapshot(NamedTuple):
    """A session as it was when a save was asked for. ticket: a later save has a greater one."""

    ticket: int
    text: bytes


@dataclass(slots=True, eq=False)
class _Open:
    """A session that this process has open.

    busy: held by whoever writes, in whatever thread. written: the ticket of the newest save that is on disk.
    newest: what has still to be written, also while it is being written or after that has failed; task: that does it.
    digest: of the file as it was last read or written here, None before that.
    """

    id: str
    cwd: Path
    path: Path
    lock: SessionLock | None = None
    busy: threading.Lock = field(default_factory=threading.Lock)
    written: int = 0
    digest: bytes | None = None
    newest: _Snapshot | None = None
    task: asyncio.Task[StoreError | None] | None = None


class SessionStore:
    """The sessions of one configured directory. Every method raises StoreError for what cannot be done.

    A path is looked up anew each time: a directory that was removed is made again by the next save.
    """

    def __init__(self, directory: str) -> None:
        """directory: relative to each session's cwd, or absolute, or beginning with `~`."""
        self._directory = Path(os.path.expanduser(directory))  # noqa: PTH111  (Path's raises without a home)
        self._open: dict[str, _Open] = {}
        self._swept: set[Path] = set()
        self._tickets = itertools.count(1)

    def directory(self, cwd: Path) -> Path:
        """Where the sessions of a working directory are kept; it may not exist yet."""
        return cwd / self._directory

    def path(self, cwd: Path, session_id: str) -> Path:
        """A session's file. Raises StoreError unless the id has the form of one."""
        check_id(session_id)
        return self.directory(cwd) / f"{session_id}.json"

    # -- reading

    def is_stored(self, cwd: Path, session_id: str) -> bool:
        """Whether a session has a file, readable or not."""
        return os.path.lexists(self.path(cwd, session_id))

    def load(self, cwd: Path, session_id: str) -> StoredSession:
        """What is on disk, read without a lock: files are replaced whole."""
        return from_json(session_id, _read(self.path(cwd, session_id), session_id))

    def list(self, cwd: Path) -> tuple[SessionInfo, ...]:
        """The sessions there are, the newest first; those that cannot be loaded too, with the reason.

        An absolute directory holds sessions of every cwd.
        """
        directory = self.directory(cwd)
        try:
            paths = tuple(directory.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise StoreError(f"the sessions in {directory} cannot be listed: {_reason(error)}") from None
        found = []
        for path in paths:
            session_id, _, ending = path.name.partition(".")
            # A session that is deleted meanwhile is none.
            with contextlib.suppress(UnknownSessionError, FileNotFoundError):
                if ending == "json" and is_session_id(session_id):
                    found.append(self._seen(path, session_id))
        return tuple(sorted(found, key=lambda session: (session.updated, session.id), reverse=True))

    def _seen(self, path: Path, session_id: str) -> SessionInfo:
        try:
            return summary_of(from_json(session_id, _read(path, session_id)))
        except UnknownSessionError:
            raise
        except StoreError as error:
            updated = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
            return SessionInfo(session_id, updated, problem=str(error))

    # -- having a session open

    def acquire(self, cwd: Path, session_id: str) -> None:
        """Lock a session, stored already or not, until `release`; nothing happens if this store has it locked.

        The directory is made if there is none. Raises StoreError if another process has the session open.
        """
        self._opened(cwd, session_id)

    def open(self, cwd: Path, session_id: str) -> StoredSession:
        """Lock a stored session and read it; one that this store has open already is read again.

        Where no lock file can be made, as on a full disk, it is read all the same: a save takes the lock, and finds
        the file as it was read, or fails. If it raises, the session is as open as it was before. It waits for a save
        that is under way; `settle` does that without blocking.
        """
        path = self.path(cwd, session_id)
        before = self._known(session_id, cwd, path)
        if before is not None:
            self._settle(before)
            return self._read_opened(before)
        if not self.is_stored(cwd, session_id):
            raise _unknown(path, session_id)  # and nothing has been made on disk for it
        opened = _Open(session_id, cwd, path)
        try:
            with contextlib.suppress(OSError):
                self._lock(opened)
            stored = self._read_opened(opened)
            self._enter(opened)
        except BaseException:
            _unlock(opened)
            raise
        return stored

    def _read_opened(self, opened: _Open) -> StoredSession:
        text = _read(opened.path, opened.id)
        stored = from_json(opened.id, text)
        opened.digest = _digest(text)
        return stored

    def release(self, session_id: str) -> None:
        """Write what is still to be written and let others open the session; nothing happens if it is not open."""
        opened = self._open.pop(session_id, None)
        if opened is not None:
            try:
                self._settle(opened)
            finally:
                with opened.busy:
                    # For a thread that has not begun to write: it would have no lock any more.
                    opened.written = next(self._tickets)
                    _unlock(opened)

    def close(self) -> None:
        """Release every session. Raises the last StoreError, after all are released.

        It waits for a write that `flush` would wait for. Where a disk hangs, ending without it does no harm: the
        kernel gives the locks back.
        """
        problem: StoreError | None = None
        for session_id in tuple(self._open):
            try:
                self.release(session_id)
            except StoreError as error:
                problem = error
        if problem is not None:
            raise problem

    def _opened(self, cwd: Path, session_id: str) -> _Open:
        path = self.path(cwd, session_id)
        opened = self._known(session_id, cwd, path)
        if opened is None:
            opened = _Open(session_id, cwd, path)
            try:
                self._lock(opened)
                self._enter(opened)
            except OSError as error:
                _unlock(opened)
                raise StoreError(
                    f"session {session_id} cannot be locked in {path.parent}: {_reason(error)}"
                ) from None
            except BaseException:
                _unlock(opened)
                raise
        return opened

    def _known(self, session_id: str, cwd: Path, path: Path) -> _Open | None:
        """What is open of the session in this directory, whose name may have been spelled otherwise so far."""
        opened = self._open.get(session_id)
        if opened is None or opened.path == path:
            return opened
        with contextlib.suppress(OSError):
            if opened.path.parent.samefile(path.parent):
                opened.cwd, opened.path = cwd, path
                return opened
        return None

    def _enter(self, opened: _Open) -> None:
        """Count a session as open, in the place of one of the same id in another directory."""
        self.release(opened.id)
        self._open[opened.id] = opened

    def _lock(self, opened: _Open) -> None:
        """Take the lock, or take it again if somebody has removed its file. Raises OSError and StoreError."""
        if opened.lock is not None and opened.lock.is_held():
            return
        directory = opened.path.parent
        session_files.make_directory(directory, opened.cwd)
        if directory not in self._swept:
            self._swept.add(directory)
            session_files.sweep(directory)
        try:
            lock = SessionLock(opened.path.with_suffix(".lock"))
        except LockedError as error:
            who = f" (pid {error.pid})" if error.pid is not None else ""
            raise StoreError(f"session {opened.id} is open in another process{who}") from None
        _unlock(opened)
        opened.lock = lock

    # -- writing

    def save(self, session_id: str, cwd: Path, messages: Sequence[Message], created: datetime) -> None:
        """Replace a session's file, and return when it is on disk; about 1 ms for a small one.

        Locks the session, if it is not, and leaves it locked. If it raises, the old file is as it was, and what was
        to be written is kept to be tried again.
        """
        snapshot = self._snapshot(session_id, cwd, messages, created)
        opened = self._opened_to_save(cwd, session_id)
        opened.newest = snapshot
        self._settle(opened)

    async def save_soon(
        self, session_id: str, cwd: Path, messages: Sequence[Message], created: datetime
    ) -> None:
        """The same without blocking the event loop; the messages may change as soon as it has been called.

        Of several saves of one session that wait, only the newest is written; each returns when its own or a newer
        one is on disk. A caller that is cancelled does not stop the write, which runs in a thread of the loop's
        executor (threads.py says why those of the agent may be cut off: a write that is leaves the old file).
        """
        snapshot = self._snapshot(session_id, cwd, messages, created)
        opened = self._opened_to_save(cwd, session_id)
        opened.newest = snapshot
        await self._settle_soon(opened)

    async def settle(self, session_id: str) -> None:
        """Write what is still to be written of a session, without blocking the loop, also what has failed before."""
        opened = self._open.get(session_id)
        if opened is not None:
            await self._settle_soon(opened)

    async def flush(self) -> None:
        """Write what is still to be written, also what has failed before. What fails again is left to `close`."""
        await asyncio.gather(*(self.settle(session_id) for session_id in self._open), return_exceptions=True)

    def withdraw(self, session_id: str) -> None:
        """Give a session up that was only just saved: no save of it goes on, and its file goes as soon as the disk
        lets it. Returns at once; needs a running loop."""
        opened = self._open.pop(session_id, None)
        if opened is not None:
            opened.newest = None
            asyncio.get_running_loop().run_in_executor(None, self._undo, opened)

    def _undo(self, opened: _Open) -> None:
        with opened.busy:
            opened.written = next(self._tickets)
            with contextlib.suppress(OSError):
                if opened.lock is not None:
                    session_files.remove(opened.path)
            _unlock(opened)

    def delete(self, cwd: Path, session_id: str) -> None:
        """Remove a session's file, unless another process has it open. A save that waits is dropped."""
        path = self.path(cwd, session_id)
        if not self.is_stored(cwd, session_id):
            raise _unknown(path, session_id)
        opened = self._opened(cwd, session_id)
        try:
            with opened.busy:
                opened.newest, opened.written = None, next(self._tickets)
                session_files.remove(path)
        except OSError as error:
            raise StoreError(f"session {session_id} cannot be deleted: {_reason(error)}") from None
        finally:
            self.release(session_id)

    def _opened_to_save(self, cwd: Path, session_id: str) -> _Open:
        """Like `_opened`, but where no lock can be made, as on a full disk, that is left to the write."""
        path = self.path(cwd, session_id)
        opened = self._known(session_id, cwd, path)
        if opened is None:
            opened = _Open(session_id, cwd, path)
            try:
                with contextlib.suppress(OSError):
                    self._lock(opened)
                self._enter(opened)
            except BaseException:
                _unlock(opened)
                raise
        return opened

    def _snapshot(
        self, session_id: str, cwd: Path, messages: Sequence[Message], created: datetime
    ) -> _Snapshot:
        check_id(session_id)
        return _Snapshot(next(self._tickets), to_json(session_id, cwd, created, datetime.now(UTC), messages))

    def _write(self, opened: _Open, snapshot: _Snapshot) -> None:
        with opened.busy:
            if opened.written >= snapshot.ticket:
                return  # a newer one was faster
            try:
                before = opened.lock
                self._lock(opened)
                if opened.lock is not before:
                    _require_unchanged(opened)
                session_files.replace(opened.path, snapshot.text)
            except OSError as error:
                raise StoreError(
                    f"session {opened.id} cannot be saved in {opened.path.parent}: {_reason(error)}"
                ) from None
            opened.written = snapshot.ticket
            opened.digest = _digest(snapshot.text)

    async def _write_newest(self, opened: _Open) -> StoreError | None:
        """Write until nothing newer has come meanwhile; what became of the last one."""
        problem: StoreError | None = None
        try:
            while (snapshot := opened.newest) is not None:
                try:
                    problem = None
                    await asyncio.to_thread(self._write, opened, snapshot)
                except StoreError as error:
                    problem = error
                if opened.newest is snapshot:
                    opened.newest = _left_of(snapshot, problem)
                    break
        finally:
            opened.task = None
        return problem

    async def _settle_soon(self, opened: _Open) -> None:
        if opened.task is None and opened.newest is not None:
            opened.task = asyncio.ensure_future(self._write_newest(opened))
        if opened.task is not None:
            problem = await asyncio.shield(opened.task)
            if problem is not None:
                raise problem

    def _settle(self, opened: _Open) -> None:
        """Write at once what is still to be written, and wait for what is being written."""
        snapshot, opened.newest = opened.newest, None
        if snapshot is not None:
            try:
                self._write(opened, snapshot)
            except StoreError as error:
                opened.newest = _left_of(snapshot, error)
                raise


def _left_of(snapshot: _Snapshot, problem: StoreError | None) -> _Snapshot | None:
    """What is to be tried again: nothing where it has been written, or never can be."""
    return None if problem is None or isinstance(problem, ChangedError) else snapshot


def _require_unchanged(opened: _Open) -> None:
    """Raise ChangedError, and give the lock back, if the file is not the one that was read or written here last.

    Asked when a lock is new: without it, another process may have written. A file that is gone holds nothing to lose.
    """
    if opened.digest is None:
        return
    try:
        changed = _digest(session_files.read(opened.path)) != opened.digest
    except FileNotFoundError:
        return
    except OSError:
        _unlock(opened)
        raise
    if changed:
        _unlock(opened)
        raise ChangedError(
            f"session {opened.id} has been changed by another process since it was loaded; what was said since then "
            "is not saved, and loading it again shows what is"
        )


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()


def _unlock(opened: _Open) -> None:
    if opened.lock is not None:
        opened.lock.release()
        opened.lock = None


def _read(path: Path, session_id: str) -> bytes:
    try:
        return session_files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        raise _unknown(path, session_id) from None
    except OSError as error:
        raise StoreError(f"session {session_id} cannot be read from {path}: {_reason(error)}") from None


def _unknown(path: Path, session_id: str) -> UnknownSessionError:
    return UnknownSessionError(f"there is no session {session_id} in {path.parent}")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
