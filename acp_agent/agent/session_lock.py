"""The lock on a stored session: one process at a time has it open.

An flock on a file of its own, never on the session's file, which is replaced by every save. The kernel lets go of it
when the process ends, however it ends, so a lock file that a killed process left behind locks nothing.
Deliberately absent: waiting. Whoever comes second is told at once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
from pathlib import Path
from typing import Final

_LONGEST_PID: Final = 20
# A lock costs a descriptor for as long as it is held. So many are left for turns: the model, children, files.
_LEFT_DESCRIPTORS: Final = 64


class LockedError(Exception):
    """Somebody else has the lock. pid: who, as far as the file says."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(pid)
        self.pid = pid


class SessionLock:
    """A lock that is held, from its making to `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lock; its file is made if there is none. Raises LockedError, and OSError as the system has it.

        LockedError comes first: who can't have one descriptor more still hears that another has the session.
        """
        self._path = path
        while True:
            self._descriptor = _locked(path)
            # The last holder may have removed the file between our opening and our locking it.
            if self.is_held():
                break
            os.close(self._descriptor)
        try:
            _require_some_left(self._descriptor)
        except OSError:
            self.release()
            raise
        with contextlib.suppress(OSError):
            # For the sentence that the second one gets; a full disk is no reason to go without the lock.
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, b"%d\n" % os.getpid())

    def is_held(self) -> bool:
        """Whether the file that is locked is still the one with the name: if not, another process may have it."""
        try:
            named = self._path.lstat()
        except FileNotFoundError:
            return False
        ours = os.fstat(self._descriptor)
        return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)

    def release(self) -> None:
        """Let go, and remove the file if it can be removed."""
        with contextlib.suppress(OSError):
            # While it is locked: a file that somebody else has taken meanwhile is not ours to remove.
            if self.is_held():
                self._path.unlink()
        os.close(self._descriptor)


def _locked(path: Path) -> int:
    """A descriptor of the file with the lock. Raises LockedError and OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, _LONGEST_PID, 0).strip()
        os.close(descriptor)
        raise LockedError(int(pid) if pid.isdigit() else None) from None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _require_some_left(newest: int) -> None:
    """Raise OSError if the newest descriptor, which is the lowest that was free, is too near the limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and newest >= limit - min(_LEFT_DESCRIPTORS, limit // 2):
        raise OSError(errno.EMFILE, "too many sessions are open for the limit on open files")
