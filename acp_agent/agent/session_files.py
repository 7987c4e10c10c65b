"""The files of stored sessions: their directory, and how one is read, replaced and removed.

Owns that a file is replaced durably and at one instant: a kill or a power cut leaves the old one or the new one,
whole. Deliberately absent: what is in them (stored_session.py), and who may write them (store.py, session_lock.py).
All functions raise OSError as the system has it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from pathlib import Path
from typing import Final

from acp_agent.agent.stored_session import is_session_id

_GITIGNORE: Final = b"# Conversations may hold secrets. Remove this file to commit them all the same.\n*\n"
# A save takes seconds at most; what is this old was left by a crash, whoever's it was.
_LEFTOVER_S: Final = 3600
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)


def read(path: Path) -> bytes:
    """All of a regular file; anything else, a link to one included, is refused."""
    # A link may lead anywhere, and a pipe would be waited for.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link") from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def replace(path: Path, text: bytes) -> None:
    """Put a new file, mode 0600, in the place of an old one or of none.

    Whoever calls has the session's lock. If it raises, the old file is as it was and nothing else is left; only if
    the directory could not be made durable the new one stands already.
    """
    unfinished = _unfinished(path)
    unfinished.unlink(missing_ok=True)  # of a save that was killed; under the lock it is nobody else's
    try:
        _write_new(unfinished, text)
        unfinished.rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def remove(path: Path) -> None:
    """Remove a session's file and what a killed save has left beside it; neither need be there."""
    path.unlink(missing_ok=True)
    _unfinished(path).unlink(missing_ok=True)
    _sync_directory(path.parent)


def make_directory(directory: Path, cwd: Path) -> None:
    """Make the directory, and what is missing above it, for the user alone; but never the cwd itself.

    A directory that is made here, or is empty, gets a `.gitignore`; in another one its absence is somebody's wish.
    """
    missing = []
    place = directory
    while not place.exists():
        if place == cwd:
            raise FileNotFoundError(errno.ENOENT, f"the directory {cwd} does not exist")
        missing.append(place)
        place = place.parent
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        _sync_directory(place.parent)
    if missing or not any(directory.iterdir()):
        with contextlib.suppress(FileExistsError):
            _write_new(directory / ".gitignore", _GITIGNORE)


def sweep(directory: Path) -> None:
    """Remove what crashes have left of sessions that nobody has saved since."""
    for path in directory.glob("*.json.tmp"):
        with contextlib.suppress(OSError):
            if (
                is_session_id(path.name.partition(".")[0])
                and path.lstat().st_mtime < time.time() - _LEFTOVER_S
            ):
                path.unlink()


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}.tmp")


def _write_new(path: Path, text: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        rest = memoryview(text)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    if _FULL_SYNC is not None:
        # Where there is this, fsync alone leaves the data in the drive's memory. Not every file system knows it.
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, _FULL_SYNC)
            return
    os.fsync(descriptor)


def _sync_directory(directory: Path) -> None:
    """Make durable which names a directory holds, where its file system can do that."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)
