"""The lock on a session: one holder, whatever happens to its file or its holder."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acp_agent.agent.session_lock import LockedError, SessionLock

HOLDER = """
import sys
from pathlib import Path
from acp_agent.agent.session_lock import SessionLock
lock = SessionLock(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.readline()
lock.release()
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until it reads a line."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


def pid_of_holder(path: Path) -> int | None:
    with pytest.raises(LockedError) as caught:
        SessionLock(path)
    return caught.value.pid


def test_the_second_process_is_told_who_has_the_lock(tmp_path: Path) -> None:
    """And gets it once the first has ended in order, which leaves no file."""
    path = tmp_path / "x.lock"
    with holder(path) as process:
        assert pid_of_holder(path) == process.pid
        process.communicate("\n")
        assert not path.exists()
        SessionLock(path).release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """Its file stays and locks nothing; the next holder's number replaces the old one."""
    path = tmp_path / "x.lock"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path.exists()
    lock = SessionLock(path)
    assert pid_of_holder(path) == os.getpid()
    lock.release()
    assert not path.exists()


def test_in_one_process_the_lock_is_taken_once_too(tmp_path: Path) -> None:
    """It belongs to its object, not to the process."""
    path = tmp_path / "x.lock"
    lock = SessionLock(path)
    assert lock.is_held()
    assert pid_of_holder(path) == os.getpid()
    lock.release()
    SessionLock(path).release()


def test_the_file_is_for_the_user_alone(tmp_path: Path) -> None:
    """Mode 0600 whatever the umask."""
    before = os.umask(0)
    try:
        lock = SessionLock(tmp_path / "x.lock")
    finally:
        os.umask(before)
    assert (tmp_path / "x.lock").stat().st_mode & 0o777 == 0o600
    lock.release()


def test_a_lock_whose_file_was_removed_is_not_held_any_more(tmp_path: Path) -> None:
    """Another process can lock a new file of that name; releasing the old lock leaves the new one alone."""
    path = tmp_path / "x.lock"
    old = SessionLock(path)
    path.unlink()
    assert not old.is_held()
    new = SessionLock(path)
    old.release()
    assert new.is_held()
    assert pid_of_holder(path) == os.getpid()
    new.release()


def test_a_file_removed_between_opening_and_locking_is_not_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise two processes would hold "the" lock: one the removed file, one its successor."""
    path = tmp_path / "x.lock"
    real_open = os.open
    removals = iter([True, False, False])

    def open_and_lose(*arguments: object, **options: object) -> int:
        descriptor = real_open(*arguments, **options)  # type: ignore[arg-type]
        if next(removals):
            path.unlink()
        return descriptor

    monkeypatch.setattr(os, "open", open_and_lose)
    lock = SessionLock(path)
    assert lock.is_held()
    assert pid_of_holder(path) == os.getpid()
    lock.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """The file it leads to is not emptied for a process number."""
    target = tmp_path / "precious"
    target.write_text("text", encoding="utf-8")
    (tmp_path / "x.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        SessionLock(tmp_path / "x.lock")
    assert target.read_text(encoding="utf-8") == "text"


def test_without_room_for_the_number_the_lock_holds_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk only the sentence of the second one is poorer."""
    path = tmp_path / "x.lock"

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    lock = SessionLock(path)
    assert pid_of_holder(path) is None
    lock.release()


def test_no_descriptor_is_left_over(tmp_path: Path) -> None:
    """Neither by holders nor by those who are refused."""
    path = tmp_path / "x.lock"
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    for _ in range(3):
        lock = SessionLock(path)
        assert pid_of_holder(path) == os.getpid()
        lock.release()
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == before


def test_locks_leave_descriptors_for_other_work(tmp_path: Path) -> None:
    """A limit on open files is reached by locks last of all: the one too many says why, and costs none."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    first_free = os.open("/dev/null", os.O_RDONLY)
    os.close(first_free)
    locks: list[SessionLock] = []

    def take_all() -> None:
        while True:
            locks.append(SessionLock(tmp_path / f"{len(locks)}.lock"))

    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + 100, limits[1]))
        with pytest.raises(OSError, match="too many sessions are open"):
            take_all()
        assert not (tmp_path / f"{len(locks)}.lock").exists()
        assert pid_of_holder(tmp_path / "0.lock") == os.getpid()  # who has a lock is told all the same
        assert 0 < len(locks) < 60
        opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(30)]
        for descriptor in opened:
            os.close(descriptor)
    finally:
        for lock in locks:
            lock.release()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
