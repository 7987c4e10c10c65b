"""The files of sessions: at whatever system call it ends, the old file or the new one is there, whole."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import session_files

NAME = "20260822-093000-0123abcd.json"
OLD = b"old " * 10
NEW = b"new " * 10_000

CALLS = ("mkdir", "open", "write", "fsync", "close", "rename", "unlink")


class Crash(BaseException):
    """The process is gone; no line of it runs any more."""


class System:
    """The system calls of a piece of code: counted, and made to fail at one of them.

    fail_at: the number of the call that fails, 0 for none. With a crash nothing after it has any effect, clean-up
    included; otherwise that one call raises the error.
    """

    def __init__(self, fail_at: int = 0, error: BaseException | None = None) -> None:
        self.log: list[str] = []
        self.failed: str | None = None
        self._fail_at = fail_at
        self._error = error if error is not None else Crash()
        self._open: set[int] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._watched(name, getattr(os, name)))
            try:
                yield
            finally:
                crashed, self._fail_at = self._open, -1
        for descriptor in crashed:  # what the kernel does for a process that is gone
            os.close(descriptor)

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            dead = isinstance(self._error, Crash) and self.failed is not None
            self.log.append(name)
            if dead:
                raise self._error
            if len(self.log) == self._fail_at:
                self.failed = name
                if name == "write" and isinstance(self._error, Crash):
                    real(arguments[0], bytes(arguments[1])[:7])
                if name == "close" and not isinstance(self._error, Crash):
                    self._open.discard(arguments[0])
                    real(*arguments)
                raise self._error
            result = real(*arguments, **options)
            if name == "open":
                self._open.add(result)
            elif name == "close":
                self._open.discard(arguments[0])
            return result

        return call


def saving(directory: Path, system: System) -> None:
    with system.watching():
        session_files.make_directory(directory, directory.parent)
        session_files.replace(directory / NAME, NEW)


def calls_of_a_save(directory: Path) -> list[str]:
    system = System()
    saving(directory, system)
    return system.log


def test_a_new_file_is_complete_on_disk_before_it_has_the_name(tmp_path: Path) -> None:
    """Write, fsync, close, rename, fsync of the directory: any other order can lose both files in a power cut."""
    (tmp_path / ".gitignore").touch()
    assert calls_of_a_save(tmp_path) == [
        *("unlink", "open", "write", "fsync", "close"),
        "rename",
        *("open", "fsync", "close"),
    ]


@pytest.mark.parametrize("existing", [False, True])
def test_a_crash_at_any_system_call_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, existing: bool
) -> None:
    """And the next save succeeds and leaves nothing behind that the crash left."""
    count = 0
    for number in range(1, 100):
        directory = tmp_path / str(number) / "sessions"
        directory.parent.mkdir()
        if existing:
            saving(directory, System())
            (directory / NAME).write_bytes(OLD)
        system = System(number)
        try:
            saving(directory, system)
        except Crash:
            count += 1
        else:
            break
        finally_there = session_files.read(directory / NAME) if (directory / NAME).exists() else None
        renamed = "rename" in system.log[: number - 1]
        assert finally_there == (NEW if renamed else OLD if existing else None)
        saving(directory, System())
        assert session_files.read(directory / NAME) == NEW
        assert {path.name for path in directory.iterdir()} == {".gitignore", NAME}
    assert count >= (9 if existing else 15)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_failure_at_any_system_call_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, code: int
) -> None:
    """A full disk or a read-only directory: an OSError, the old conversation, no half of a new one."""
    saving(tmp_path / "sessions", System())
    expected = {".gitignore", NAME}
    count = 0
    for number in range(1, 100):
        path = tmp_path / "sessions" / NAME
        path.write_bytes(OLD)
        system = System(number, OSError(code, os.strerror(code)))
        try:
            saving(path.parent, system)
        except OSError:
            count += 1
        else:
            break
        renamed = "rename" in system.log[: number - 1]
        assert path.read_bytes() == (NEW if renamed else OLD)
        assert {one.name for one in path.parent.iterdir()} == expected
    assert count == 9


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may take less than it was given, near the end of a disk for one."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:1000]))
    session_files.replace(tmp_path / NAME, NEW)
    assert (tmp_path / NAME).read_bytes() == NEW


def test_where_the_drive_has_to_be_told_too_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS fsync alone is not durable; where the stronger call is unknown to the file system, fsync is taken."""
    asked: list[int] = []
    answer: list[OSError | None] = [None, OSError(errno.ENOTSUP, "not supported")]

    def control(_: int, command: int) -> int:
        asked.append(command)
        error = answer.pop(0)
        if error is not None:
            raise error
        return 0

    monkeypatch.setattr(session_files, "_FULL_SYNC", 51)
    monkeypatch.setattr(fcntl, "fcntl", control)
    for syncs in (["fsync"], ["fsync", "fsync"]):  # the last is the directory's
        system = System()
        with system.watching():
            session_files.replace(tmp_path / NAME, NEW)
        assert [call for call in system.log if call == "fsync"] == syncs
    assert asked == [51, 51]


def test_a_file_system_that_cannot_sync_directories_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the rename is as durable as it gets."""
    real = os.fsync

    def picky(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", picky)
    session_files.replace(tmp_path / NAME, NEW)
    assert (tmp_path / NAME).read_bytes() == NEW


def test_everything_made_is_for_the_user_alone(tmp_path: Path) -> None:
    """Conversations hold what commands printed: 0700 and 0600, also under a umask that hides nothing."""
    before = os.umask(0)
    try:
        session_files.make_directory(tmp_path / "c" / "d" / "e", tmp_path)
        session_files.replace(tmp_path / "c" / "d" / "e" / NAME, NEW)
    finally:
        os.umask(before)
    for name in ("c", "c/d", "c/d/e"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700
    for name in (NAME, ".gitignore"):
        assert (tmp_path / "c/d/e" / name).stat().st_mode & 0o777 == 0o600


def test_a_directory_that_is_made_keeps_itself_out_of_commits(tmp_path: Path) -> None:
    """A .gitignore with `*`; also in an empty one, which a killed process may have left."""
    (tmp_path / "empty").mkdir()
    for directory in (tmp_path / "fresh" / "sessions", tmp_path / "empty"):
        session_files.make_directory(directory, tmp_path)
        lines = (directory / ".gitignore").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if not line.startswith("#")] == ["*"]
    assert not (tmp_path / "fresh" / ".gitignore").exists()


def test_a_missing_gitignore_in_a_used_directory_is_a_wish(tmp_path: Path) -> None:
    """Who removed it wants the conversations committed; who has other things there did not ask for it."""
    (tmp_path / "notes.txt").touch()
    session_files.make_directory(tmp_path, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_cwd_itself_is_never_made(tmp_path: Path) -> None:
    """A project that was removed while the agent ran does not come back as an empty shell."""
    cwd = tmp_path / "project"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        session_files.make_directory(cwd / ".acp-agent" / "sessions", cwd)
    assert not cwd.exists()


def test_a_file_in_the_way_of_the_directory_is_a_failure(tmp_path: Path) -> None:
    """It is not removed."""
    (tmp_path / ".acp-agent").write_text("mine", encoding="utf-8")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        session_files.make_directory(tmp_path / ".acp-agent" / "sessions", tmp_path)
    assert (tmp_path / ".acp-agent").read_text(encoding="utf-8") == "mine"


def test_links_are_not_followed_by_reading_or_writing(tmp_path: Path) -> None:
    """A link in the place of a session's file, or of an unfinished one, leads nobody to another file."""
    precious = tmp_path / "precious"
    precious.write_bytes(OLD)
    (tmp_path / NAME).symlink_to(precious)
    (tmp_path / f"{NAME}.tmp").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        session_files.read(tmp_path / NAME)
    session_files.replace(tmp_path / NAME, NEW)
    assert precious.read_bytes() == OLD
    assert session_files.read(tmp_path / NAME) == NEW


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    """A pipe that nobody writes to would be waited for, for ever."""
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(OSError, match="not a regular file"):
        session_files.read(tmp_path / NAME)
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        session_files.read(tmp_path / NAME)


def test_removing_takes_the_unfinished_file_too(tmp_path: Path) -> None:
    """And nothing else; neither has to be there."""
    for name in (NAME, f"{NAME}.tmp", "other.json"):
        (tmp_path / name).touch()
    session_files.remove(tmp_path / NAME)
    session_files.remove(tmp_path / NAME)
    assert [path.name for path in tmp_path.iterdir()] == ["other.json"]


def test_sweeping_takes_only_old_unfinished_files_of_sessions(tmp_path: Path) -> None:
    """A fresh one may be in the making by another process; other names are not ours."""
    old = time.time() - 2 * 3600
    for name in (f"{NAME}.tmp", "notes.json.tmp", NAME):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (old, old))
    fresh = tmp_path / "20260822-093000-0123abce.json.tmp"
    fresh.touch()
    session_files.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.json.tmp", NAME, fresh.name}
