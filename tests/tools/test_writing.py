"""write_file and the one way to change a file: atomic, through links, with mode and mark kept."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from acp_agent.tools import writing
from acp_agent.tools.base import ToolError, ToolResult
from acp_agent.tools.writing import Permit, WriteFileTool, replace, target, with_permit


def write(path: Path | str, content: str, cwd: Path = Path("/")) -> ToolResult:
    return asyncio.run(WriteFileTool().run({"path": str(path), "content": content}, cwd))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_new_file_is_made_with_its_folders(tmp_path: Path) -> None:
    """Missing parent folders are made; a new file has no old text, and the mode the umask leaves."""
    before = os.umask(0o027)
    try:
        result = write("a/b/new.txt", "é\r\nx", tmp_path)
    finally:
        os.umask(before)
    path = tmp_path / "a" / "b" / "new.txt"
    assert path.read_bytes() == "é\r\nx".encode()
    assert mode(path) == 0o640
    assert names(path.parent) == ["new.txt"]
    assert result.output == f"wrote {path} (new file, 5 bytes)"
    assert result.diff is not None
    assert (result.diff.path, result.diff.old_text, result.diff.new_text) == (str(path), None, "é\r\nx")


def test_an_old_file_keeps_its_mode_and_shows_its_old_text(tmp_path: Path) -> None:
    """Mode kept, also bits the umask would take."""
    path = tmp_path / "run.sh"
    path.write_text("old")
    path.chmod(0o4777)
    result = write(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o4777)
    assert result.diff is not None
    assert result.diff.old_text == "old"
    assert result.output == f"wrote {path} (3 bytes)"


def test_the_owner_is_kept_where_the_system_lets_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ownership where possible: asked for before the mode is set, and a refusal is no failure."""
    path = tmp_path / "file"
    path.write_text("old")
    found = path.stat()
    asked: list[tuple[int, int]] = []

    def refuse(descriptor: int, uid: int, gid: int) -> None:
        asked.append((uid, gid))
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    real_fstat = os.fstat

    def somebody_else(descriptor: int) -> os.stat_result:
        fields = list(real_fstat(descriptor))
        fields[4] += 1
        return os.stat_result(fields)

    monkeypatch.setattr(os, "fstat", somebody_else)
    write(path, "new")
    assert asked == [(found.st_uid, found.st_gid)]
    assert path.read_text() == "new"


@pytest.mark.parametrize("kind", ["to a file", "a chain", "broken", "out of the folder"])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path, kind: str) -> None:
    """B316: link to a file, link chain, broken link, link that leaves the workspace."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    goal = (tmp_path if kind == "out of the folder" else workspace) / "goal"
    if kind != "broken":
        goal.write_text("old")
        goal.chmod(0o750)
    link = workspace / "link"
    link.symlink_to(goal)
    if kind == "a chain":
        (workspace / "middle").symlink_to("goal")
        link.unlink()
        link.symlink_to("middle")
    where = link.readlink()
    result = write(link, "new")
    assert link.is_symlink()
    assert link.readlink() == where
    assert goal.read_text() == "new"
    assert not goal.is_symlink()
    if kind != "broken":
        assert mode(goal) == 0o750
    assert result.diff is not None
    assert result.diff.path == str(link)


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    """B317: a full write keeps it; the diff does not show it; a mark the model writes is not doubled."""
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfold")
    result = write(path, "new")
    assert path.read_bytes() == b"\xef\xbb\xbfnew"
    assert result.diff is not None
    assert (result.diff.old_text, result.diff.new_text) == ("old", "new")
    write(path, "\ufeffnewer")
    assert path.read_bytes() == b"\xef\xbb\xbfnewer"


def test_what_cannot_be_shown_as_a_diff_is_written_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old text that is no text, and texts too long for the wire."""
    path = tmp_path / "file"
    path.write_bytes(b"\xff\xfe\0")
    assert write(path, "new").diff is None
    assert path.read_text() == "new"
    monkeypatch.setattr(writing, "MAX_DIFF_BYTES", 6)
    assert write(path, "abc").diff is not None
    assert write(path, "abcd").diff is None
    assert path.read_text() == "abcd"


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Directory, FIFO, loop, file as folder, half a character; nothing is left behind."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    before = names(tmp_path)
    for name, sentence in {
        "folder": "is a directory, not a file",
        "pipe": "is a named pipe, not a file",
        "loop": "is a symbolic link that leads to itself",
        "file/x": "a part of its path is a file",
        "file/x/y": "a part of its path is a file",
        "x" * 300: "too long for the file system",
    }.items():
        with pytest.raises(ToolError, match=sentence):
            write(tmp_path / name, "new")
    with pytest.raises(ToolError, match="content holds half of a surrogate pair"):
        write(tmp_path / "new", "\udc80")
    assert names(tmp_path) == before


def test_a_read_only_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename would get past the mode; somebody set it for a reason."""
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ToolError, match="is read-only"):
        write(path, "new")
    assert path.read_text() == "old"


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "replace", refuse)


def test_a_file_that_cannot_be_renamed_over_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single file mounted into a container: EBUSY; the shorter text leaves no rest of the longer one."""
    path = tmp_path / "file"
    path.write_text("old and long")
    number = path.stat().st_ino
    failing(monkeypatch, errno.EBUSY)
    write(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_ino == number
    assert names(tmp_path) == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Atomic: a full disk costs nothing."""
    path = tmp_path / "file"
    path.write_text("old")
    failing(monkeypatch, errno.ENOSPC)
    with pytest.raises(ToolError, match="there is no space left"):
        write(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_change_by_somebody_else_is_not_overwritten(tmp_path: Path, exists: bool) -> None:
    """Between reading and writing an editor may save."""
    path = tmp_path / "file"
    if exists:
        path.write_text("old")
    place = target(path)
    path.write_text("somebody else")
    with pytest.raises(ToolError, match="was changed by somebody else"):
        replace(place, b"ours", Permit())
    assert path.read_text() == "somebody else"
    assert names(tmp_path) == ["file"]


def test_a_reader_sees_the_old_or_the_new_text(tmp_path: Path) -> None:
    """Atomic write: never a mixture, never nothing."""
    path = tmp_path / "file"
    texts = ["a" * 200_000, "b" * 200_000]
    path.write_text(texts[0])
    done = threading.Event()
    seen: set[str] = set()

    def look() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=look)
    reader.start()
    for at in range(20):
        write(path, texts[at % 2])
    done.set()
    reader.join()
    assert seen <= set(texts)


def test_a_cancelled_write_never_changes_the_file_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread goes on, but its permit is gone."""
    path = tmp_path / "file"
    path.write_text("old")
    syncing, go_on, finished = threading.Event(), threading.Event(), threading.Event()

    def slow_sync(descriptor: int) -> None:
        syncing.set()
        assert go_on.wait(20)

    monkeypatch.setattr(os, "fsync", slow_sync)
    real_write: Any = writing._write

    def watched(*arguments: object) -> object:
        try:
            return real_write(*arguments)
        finally:
            finished.set()

    monkeypatch.setattr(writing, "_write", watched)

    async def work() -> None:
        call = asyncio.ensure_future(WriteFileTool().run({"path": str(path), "content": "new"}, tmp_path))
        assert await asyncio.to_thread(syncing.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        go_on.set()
        assert await asyncio.to_thread(finished.wait, 20)

    asyncio.run(work())
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_permit_is_good_until_it_is_withdrawn() -> None:
    """A permit is for one call; what is done with it is done."""

    async def work() -> str:
        def use(permit: Permit) -> str:
            with permit.used():
                return "done"

        return await with_permit(use)

    assert asyncio.run(work()) == "done"
    permit = Permit()
    permit.withdraw()
    with pytest.raises(ToolError, match="was cancelled"), permit.used():
        pass
