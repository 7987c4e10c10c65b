"""The store of sessions: saved, listed, loaded again, by one process at a time, whatever ends it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from acp_agent.agent import session_files
from acp_agent.agent.store import SessionInfo, SessionStore, StoreError
from acp_agent.agent.threads import UnawaitedThreads

ID = "20260822-093000-0123abcd"
OTHER = "20260823-093000-0123abcd"
CREATED = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
DIRECTORY = ".acp-agent/sessions"

# By Hypothesis profile: few while one works, 200 in every full run, many in a night.
KILLS = {50: 40, 100: 200, 1_000: 200}.get(settings().max_examples, 5_000)


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "You are Bob."}, *({"role": "user", "content": t} for t in texts)]


def texts(store: SessionStore, cwd: Path, session_id: str = ID) -> list[object]:
    return [m["content"] for m in store.load(cwd, session_id).messages if m["role"] == "user"]


def names(cwd: Path) -> set[str]:
    return {path.name for path in (cwd / DIRECTORY).iterdir()}


@pytest.fixture
def store() -> Iterator[SessionStore]:
    one = SessionStore(DIRECTORY)
    yield one
    one.close()


@pytest.fixture
def second() -> Iterator[SessionStore]:
    """A store as another process would have it: locks belong to stores, not to processes."""
    one = SessionStore(DIRECTORY)
    yield one
    one.close()


# --- saving and loading


def test_a_session_is_stored_under_its_cwd_and_read_back(store: SessionStore, tmp_path: Path) -> None:
    """`<cwd>/<dir>/<id>.json`, written at once, with all that was said."""
    before = datetime.now(UTC)
    store.save(ID, tmp_path, said("hello"), CREATED)
    assert (tmp_path / DIRECTORY / f"{ID}.json").is_file()
    assert names(tmp_path) == {f"{ID}.json", f"{ID}.lock", ".gitignore"}
    stored = store.load(tmp_path, ID)
    assert (stored.id, stored.cwd, stored.created) == (ID, tmp_path, CREATED)
    assert before <= stored.updated <= datetime.now(UTC)
    assert stored.messages == said("hello")


def test_a_save_replaces_the_whole_conversation(store: SessionStore, tmp_path: Path) -> None:
    """Also by a shorter one, after /new and /compact."""
    store.save(ID, tmp_path, said("one", "two" * 1000), CREATED)
    store.save(ID, tmp_path, said(), CREATED)
    assert store.load(tmp_path, ID).messages == said()


def test_an_absolute_directory_serves_every_cwd(tmp_path: Path) -> None:
    """Sessions then lie together, each with its own cwd."""
    store = SessionStore(str(tmp_path / "all"))
    for session_id, name in ((ID, "a"), (OTHER, "b")):
        (tmp_path / name).mkdir()
        store.save(session_id, tmp_path / name, said(name), CREATED)
    assert store.path(tmp_path / "a", ID) == tmp_path / "all" / f"{ID}.json"
    assert {info.cwd for info in store.list(tmp_path / "a")} == {tmp_path / "a", tmp_path / "b"}
    store.close()


def test_a_directory_in_the_home_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`~` is what a person writes in a configuration file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert SessionStore("~/bob").directory(Path("/project")) == tmp_path / "bob"


def test_a_large_conversation_survives(store: SessionStore, tmp_path: Path) -> None:
    """10,000 messages and 20 MB."""
    messages = said(*(f"{number} " + "é" * 1000 for number in range(10_000)))
    store.save(ID, tmp_path, messages, CREATED)
    assert store.load(tmp_path, ID).messages == messages


@pytest.mark.parametrize("session_id", ["../x", f"{ID}/../../x", f"{ID}\n", "", ID.upper(), "/etc/passwd"])
def test_no_id_leads_out_of_the_directory(store: SessionStore, tmp_path: Path, session_id: str) -> None:
    """Every method refuses it, and nothing is made on disk."""
    for act in (store.path, store.load, store.open, store.acquire, store.delete):
        with pytest.raises(StoreError, match="is not a session id"):
            act(tmp_path, session_id)
    with pytest.raises(StoreError, match="is not a session id"):
        store.save(session_id, tmp_path, said(), CREATED)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_session_is_one_sentence_and_leaves_no_trace(store: SessionStore, tmp_path: Path) -> None:
    """Looking for a session makes no directory."""
    for act in (store.load, store.open, store.delete):
        with pytest.raises(StoreError) as caught:
            act(tmp_path, ID)
        assert str(caught.value) == f"there is no session {ID} in {tmp_path / DIRECTORY}"
    assert store.list(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_refused_and_can_be_opened_once_repaired(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """A refusal leaves the session closed: nobody has to restart anything."""
    store.save(ID, tmp_path, said("x"), CREATED)
    store.close()
    path = store.path(tmp_path, ID)
    good = path.read_bytes()
    path.write_bytes(good[:-10])
    with pytest.raises(StoreError, match="is damaged: it is not JSON"):
        store.open(tmp_path, ID)
    path.write_bytes(good)
    second.open(tmp_path, ID)


def test_what_cannot_be_read_is_one_sentence(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's file, a broken disk."""
    store.save(ID, tmp_path, said("x"), CREATED)

    def denied(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(session_files, "read", denied)
    with pytest.raises(StoreError) as caught:
        store.load(tmp_path, ID)
    path = store.path(tmp_path, ID)
    assert str(caught.value) == f"session {ID} cannot be read from {path}: Permission denied"


def test_a_link_in_the_place_of_a_session_is_not_followed(store: SessionStore, tmp_path: Path) -> None:
    """A repository can carry links; none of them gets read as a conversation or written through."""
    precious = tmp_path / "precious"
    precious.write_text("{}", encoding="utf-8")
    (tmp_path / DIRECTORY).mkdir(parents=True)
    path = store.path(tmp_path, ID)
    path.symlink_to(precious)
    with pytest.raises(StoreError, match="it is a symbolic link"):
        store.open(tmp_path, ID)
    store.save(ID, tmp_path, said("x"), CREATED)
    assert precious.read_text(encoding="utf-8") == "{}"
    assert not path.is_symlink()


# --- failures of the disk


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_save_that_fails_is_one_sentence_and_the_old_file_stays(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A full disk or a read-only directory; once there is room the next save succeeds."""
    store.save(ID, tmp_path, said("old"), CREATED)

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        with pytest.raises(StoreError) as caught:
            store.save(ID, tmp_path, said("new"), CREATED)
        with pytest.raises(StoreError):
            asyncio.run(store.save_soon(ID, tmp_path, said("new"), CREATED))
    sentence = f"session {ID} cannot be saved in {tmp_path / DIRECTORY}: {os.strerror(code)}"
    assert str(caught.value) == sentence
    assert texts(store, tmp_path) == ["old"]
    assert names(tmp_path) == {f"{ID}.json", f"{ID}.lock", ".gitignore"}
    store.save(ID, tmp_path, said("new"), CREATED)
    assert texts(store, tmp_path) == ["new"]


def test_without_room_for_a_lock_a_new_session_is_stored_later(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never written without its lock; what was to be written is not forgotten."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", _no_room)
        with pytest.raises(StoreError, match=r"cannot be locked in .*: No space left on device"):
            second.acquire(tmp_path, ID)
        with pytest.raises(StoreError, match=r"cannot be saved in .*: No space left on device"):
            store.save(ID, tmp_path, said("x"), CREATED)
        assert not store.is_stored(tmp_path, ID)
    store.close()
    assert texts(second, tmp_path) == ["x"]


def test_a_session_on_a_full_disk_can_be_opened_and_is_locked_when_it_is_saved(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading needs no room; saving takes the lock, or fails if another process has it meanwhile."""
    store.save(ID, tmp_path, said("old"), CREATED)
    store.close()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", _no_new_file)
        store.open(tmp_path, ID)
        with pytest.raises(StoreError, match="cannot be saved"):
            store.save(ID, tmp_path, said("new"), CREATED)
    second.acquire(tmp_path, ID)
    with pytest.raises(StoreError, match="is open in another process"):
        store.save(ID, tmp_path, said("new"), CREATED)
    second.close()
    store.save(ID, tmp_path, said("new"), CREATED)
    with pytest.raises(StoreError, match="is open in another process"):
        second.open(tmp_path, ID)
    assert texts(second, tmp_path) == ["new"]


def opened_without_its_lock(store: SessionStore, cwd: Path, patch: pytest.MonkeyPatch) -> None:
    """Save a session that says "old", let it go, and open it where no lock file can be made."""
    store.save(ID, cwd, said("old"), CREATED)
    store.close()
    with patch.context() as full:
        full.setattr(os, "open", _no_new_file)
        store.open(cwd, ID)


def test_what_another_process_has_said_meanwhile_is_not_overwritten(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened without its lock, a session is written only over the file that was read; loaded again, over the new."""
    opened_without_its_lock(store, tmp_path, monkeypatch)
    second.open(tmp_path, ID)
    second.save(ID, tmp_path, said("old", "theirs"), CREATED)
    second.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="has been changed by another process since it was loaded"):
            store.save(ID, tmp_path, said("old", "ours"), CREATED)
    assert texts(second, tmp_path) == ["old", "theirs"]
    assert store.open(tmp_path, ID).messages == said("old", "theirs")
    store.save(ID, tmp_path, said("old", "theirs", "ours"), CREATED)
    assert texts(second, tmp_path) == ["old", "theirs", "ours"]


def test_a_lost_lock_does_not_cost_the_turn_of_who_had_it_meanwhile(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """The lock's file was removed by hand; another process has come, saved and gone."""
    store.save(ID, tmp_path, said("one"), CREATED)
    (tmp_path / DIRECTORY / f"{ID}.lock").unlink()
    second.open(tmp_path, ID)
    second.save(ID, tmp_path, said("one", "theirs"), CREATED)
    second.close()
    with pytest.raises(StoreError, match="has been changed by another process"):
        store.save(ID, tmp_path, said("one", "ours"), CREATED)
    assert texts(second, tmp_path) == ["one", "theirs"]


def test_near_the_limit_on_open_files_a_session_of_another_process_is_refused(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """A process that can't have one lock more still sees that the session is locked."""
    store.save(ID, tmp_path, said("x"), CREATED)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open("/dev/null", os.O_RDONLY)
    os.close(free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 20, limits[1]))
        with pytest.raises(StoreError, match="is open in another process"):
            second.open(tmp_path, ID)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("act", ["reload", "settle", "flush", "end"])
def test_what_could_not_be_saved_is_tried_again(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """A disk that was full for a moment costs no turn: neither a reload nor the end forgets it."""
    store.save(ID, tmp_path, said("old"), CREATED)
    full = OSError(errno.ENOSPC, "No space left on device")
    disk = Disk(monkeypatch)
    disk.errors += [full, full]
    disk.go.set()

    async def main() -> None:
        with pytest.raises(StoreError, match="No space left on device"):
            await store.save_soon(ID, tmp_path, said("old", "new"), CREATED)
        with pytest.raises(StoreError, match="No space left on device"):
            store.open(tmp_path, ID)  # rather than as it was before the turn
        if act == "reload":
            assert store.open(tmp_path, ID).messages == said("old", "new")
        elif act == "settle":
            await store.settle(ID)
        elif act == "flush":
            await store.flush()
        else:
            store.close()

    asyncio.run(main())
    assert texts(second, tmp_path) == ["old", "new"]


def test_a_session_that_is_withdrawn_while_it_is_saved_leaves_nothing(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once for who withdraws it; on disk as soon as the disk lets it."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        save = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("x"), CREATED))
        await until_it_began(disk)
        store.withdraw(ID)
        disk.go.set()
        await asyncio.wait({save})

    asyncio.run(main())  # with the threads it has started
    assert names(tmp_path) == {".gitignore"}
    second.acquire(tmp_path, ID)


_real_open = os.open


def _no_room(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def _no_new_file(path: Any, flags: int, *rest: Any, **options: Any) -> int:
    return _no_room() if flags & os.O_CREAT else _real_open(path, flags, *rest, **options)


def test_a_directory_that_was_removed_is_made_again(store: SessionStore, tmp_path: Path) -> None:
    """With its lock, which another process could have taken otherwise."""
    store.save(ID, tmp_path, said("one"), CREATED)
    for path in (tmp_path / DIRECTORY).iterdir():
        path.unlink()
    (tmp_path / DIRECTORY).rmdir()
    store.save(ID, tmp_path, said("one", "two"), CREATED)
    assert names(tmp_path) == {f"{ID}.json", f"{ID}.lock", ".gitignore"}


def test_a_cwd_that_was_removed_stays_removed(store: SessionStore, tmp_path: Path) -> None:
    """The turn goes on with a warning."""
    with pytest.raises(StoreError, match="does not exist"):
        store.save(ID, tmp_path / "gone", said("x"), CREATED)
    with pytest.raises(StoreError, match="does not exist"):
        store.close()  # tried once more
    assert list(tmp_path.iterdir()) == []


# --- the list


def test_the_list_shows_the_newest_first_with_title_and_number(store: SessionStore, tmp_path: Path) -> None:
    """The first user text on one line; other files in the directory are not sessions."""
    store.save(ID, tmp_path, said("first\nquestion", "second"), CREATED)
    store.save(OTHER, tmp_path, said(), CREATED)
    for name in ("notes.json", f"{ID}.json.tmp", f"{ID}.bak", "20260822-093000-0123ABCD.json"):
        (tmp_path / DIRECTORY / name).write_text("{}", encoding="utf-8")
    newest, oldest = store.list(tmp_path)
    assert newest == SessionInfo(OTHER, newest.updated, cwd=tmp_path)
    assert oldest == SessionInfo(ID, oldest.updated, "first question", 2, tmp_path)
    assert newest.updated > oldest.updated


def test_the_list_shows_what_cannot_be_loaded_and_why(store: SessionStore, tmp_path: Path) -> None:
    """So that a person can find and delete it; the good ones are there all the same."""
    store.save(ID, tmp_path, said("x"), CREATED)
    store.path(tmp_path, OTHER).write_text("{", encoding="utf-8")
    damaged, good = store.list(tmp_path)
    assert (good.id, good.problem) == (ID, None)
    assert damaged.id == OTHER
    assert damaged.problem is not None
    assert damaged.problem.startswith(f"the file of session {OTHER} is damaged: it is not JSON")
    assert timedelta() <= datetime.now(UTC) - damaged.updated < timedelta(minutes=10)


def test_a_session_that_vanishes_while_it_is_listed_is_none(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may delete at any time."""
    store.save(ID, tmp_path, said("x"), CREATED)
    real = session_files.read

    def read(path: Path) -> bytes:
        path.unlink()
        return real(path)

    monkeypatch.setattr(session_files, "read", read)
    assert store.list(tmp_path) == ()


def test_a_directory_that_cannot_be_listed_is_one_sentence(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not an empty list."""

    def denied(_: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(StoreError, match=r"the sessions in .* cannot be listed: Permission denied"):
        store.list(tmp_path)


# --- one process at a time


def test_the_second_to_open_a_session_is_told_and_writes_nothing(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """Whatever it tries; reading is free, because files are replaced whole."""
    store.save(ID, tmp_path, said("mine"), CREATED)
    before = store.path(tmp_path, ID).read_bytes(), names(tmp_path)
    sentence = f"session {ID} is open in another process (pid {os.getpid()})"
    for act in (second.open, second.acquire, second.delete):
        with pytest.raises(StoreError) as caught:
            act(tmp_path, ID)
        assert str(caught.value) == sentence
    with pytest.raises(StoreError, match="is open in another process"):
        second.save(ID, tmp_path, said("yours"), CREATED)
    with pytest.raises(StoreError, match="is open in another process"):
        asyncio.run(second.save_soon(ID, tmp_path, said("yours"), CREATED))
    assert (store.path(tmp_path, ID).read_bytes(), names(tmp_path)) == before
    assert texts(second, tmp_path) == ["mine"]
    assert len(second.list(tmp_path)) == 1


def test_a_released_session_is_open_to_others(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """Released once or twice; other sessions stay locked."""
    store.save(ID, tmp_path, said("x"), CREATED)
    store.save(OTHER, tmp_path, said("y"), CREATED)
    store.release(ID)
    store.release(ID)
    assert names(tmp_path) == {f"{ID}.json", f"{OTHER}.json", f"{OTHER}.lock", ".gitignore"}
    assert second.open(tmp_path, ID).messages == said("x")
    with pytest.raises(StoreError, match="is open in another process"):
        second.open(tmp_path, OTHER)


def test_a_session_that_is_open_here_is_opened_again_from_disk(store: SessionStore, tmp_path: Path) -> None:
    """Reloaded; what a file says counts, not what this process remembers."""
    store.save(ID, tmp_path, said("x"), CREATED)
    path = store.path(tmp_path, ID)
    path.write_text(path.read_text(encoding="utf-8").replace('"x"', '"edited"'), encoding="utf-8")
    assert store.open(tmp_path, ID).messages == said("edited")
    assert store.open(tmp_path, ID).messages == said("edited")


def test_a_session_opened_from_another_cwd_is_the_one_stored_there(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """A copy of a project has its own sessions; the one of the old place is let go."""
    old, new = tmp_path / "old", tmp_path / "new"
    for cwd in (old, new):
        cwd.mkdir()
        store.save(ID, cwd, said(cwd.name), CREATED)
    store.open(old, ID)
    with pytest.raises(StoreError, match="there is no session"):
        store.open(tmp_path, ID)
    assert store.open(new, ID).messages == said("new")
    second.open(old, ID)
    with pytest.raises(StoreError, match="is open in another process"):
        second.open(new, ID)


@pytest.mark.parametrize("spelling", ["a link", "with dots"])
def test_a_directory_may_be_spelled_in_several_ways(
    store: SessionStore, second: SessionStore, tmp_path: Path, spelling: str
) -> None:
    """It is the same session: open here, so it is read again and saved on, under the one lock."""
    cwd, link = tmp_path / "cwd", tmp_path / "link"
    cwd.mkdir()
    link.symlink_to(cwd)
    other = link if spelling == "a link" else cwd / ".." / "cwd"
    store.save(ID, cwd, said("one"), CREATED)
    assert len(store.open(other, ID).messages) == 2
    store.save(ID, other, said("one", "two"), CREATED)
    store.save(ID, cwd, said("one", "two", "three"), CREATED)
    assert texts(store, cwd) == ["one", "two", "three"]
    with pytest.raises(StoreError, match="open in another process"):
        second.open(cwd, ID)
    store.release(ID)
    assert second.open(cwd, ID).messages


def test_a_session_taken_over_after_its_lock_file_was_removed_is_not_overwritten(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """Somebody tidied up by hand; the one that comes late loses."""
    store.save(ID, tmp_path, said("mine"), CREATED)
    (tmp_path / DIRECTORY / f"{ID}.lock").unlink()
    second.open(tmp_path, ID)
    second.save(ID, tmp_path, said("yours"), CREATED)
    with pytest.raises(StoreError, match="is open in another process"):
        store.save(ID, tmp_path, said("mine"), CREATED)
    second.close()
    with pytest.raises(StoreError, match="has been changed by another process"):
        store.close()
    assert texts(store, tmp_path) == ["yours"]


OTHER_PROCESS = """
import sys
from pathlib import Path
from acp_agent.agent.store import SessionStore
store = SessionStore(sys.argv[1])
print(store.open(Path(sys.argv[2]), sys.argv[3]).messages[1]["content"], flush=True)
sys.stdin.readline()
store.close()
"""


@contextmanager
def opened_elsewhere(cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the session open until it reads a line."""
    command = [sys.executable, "-c", OTHER_PROCESS, DIRECTORY, str(cwd), ID]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hello\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", ["in order", "killed"])
def test_two_processes_share_a_session_one_after_the_other(
    store: SessionStore, tmp_path: Path, end: str
) -> None:
    """The second gets the first one's number, and the session once the first has ended, however it did."""
    store.save(ID, tmp_path, said("hello"), CREATED)
    store.close()
    with opened_elsewhere(tmp_path) as process:
        with pytest.raises(StoreError) as caught:
            store.save(ID, tmp_path, said("x"), CREATED)
        assert str(caught.value) == f"session {ID} is open in another process (pid {process.pid})"
        assert texts(store, tmp_path) == ["hello"]
        if end == "killed":
            process.kill()
        process.communicate("\n")
    assert store.open(tmp_path, ID).messages == said("hello")
    store.save(ID, tmp_path, said("hello", "again"), CREATED)
    assert texts(store, tmp_path) == ["hello", "again"]


# --- deleting


def test_a_deleted_session_is_gone_with_all_its_files(store: SessionStore, tmp_path: Path) -> None:
    """Open here or not; a save of a conversation that goes on brings it back."""
    store.save(ID, tmp_path, said("x"), CREATED)
    (tmp_path / DIRECTORY / f"{ID}.json.tmp").touch()
    store.delete(tmp_path, ID)
    assert names(tmp_path) == {".gitignore"}
    store.save(ID, tmp_path, said("x"), CREATED)
    store.release(ID)
    store.delete(tmp_path, ID)
    assert names(tmp_path) == {".gitignore"}


def test_what_cannot_be_deleted_is_one_sentence(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the session can be opened by others afterwards."""
    store.save(ID, tmp_path, said("x"), CREATED)
    with monkeypatch.context() as patch:

        def fail(_: Path) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        patch.setattr(session_files, "remove", fail)
        with pytest.raises(StoreError, match=f"session {ID} cannot be deleted: Read-only file system"):
            store.delete(tmp_path, ID)
    assert names(tmp_path) == {f"{ID}.json", ".gitignore"}


def test_leftovers_of_other_sessions_go_with_time(
    store: SessionStore, second: SessionStore, tmp_path: Path
) -> None:
    """The first session that is opened in a directory tidies it; what another process may be writing stays."""
    store.save(ID, tmp_path, said("x"), CREATED)
    old = tmp_path / DIRECTORY / f"{OTHER}.json.tmp"
    fresh = tmp_path / DIRECTORY / "20260824-093000-0123abcd.json.tmp"
    for path, age_s in ((old, 2 * 3600), (fresh, 0)):
        path.touch()
        os.utime(path, (time.time() - age_s, time.time() - age_s))
    second.acquire(tmp_path, OTHER)
    assert not old.exists()
    assert fresh.exists()


# --- saving beside the event loop


class Disk:
    """A disk that takes its time: every replacement waits until it is let through."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.began: list[str] = []
        self.errors: list[OSError] = []
        self.beginnings = threading.Semaphore(0)
        self.go = threading.Event()
        self._real = session_files.replace
        patch.setattr(session_files, "replace", self._replace)

    def _replace(self, path: Path, text: bytes) -> None:
        self.began.append(json.loads(text)["messages"][-1]["content"])
        self.beginnings.release()
        assert self.go.wait(60)
        if self.errors:
            raise self.errors.pop(0)
        self._real(path, text)


async def until_it_began(disk: Disk) -> None:
    """Wait for one more replacement to begin."""
    assert await asyncio.to_thread(disk.beginnings.acquire, timeout=60)


def test_a_slow_disk_does_not_stop_the_loop_and_the_newest_save_wins(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is written others wait as one; each is done when it or a newer one is on disk."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        def save(number: int) -> asyncio.Future[None]:
            return asyncio.ensure_future(store.save_soon(ID, tmp_path, said(f"turn {number}"), CREATED))

        saves = [save(0)]
        await until_it_began(disk)
        saves += map(save, range(1, 5))
        flushed = asyncio.ensure_future(store.flush())
        await asyncio.sleep(0)
        assert not any(task.done() for task in (*saves, flushed))
        disk.go.set()
        await asyncio.gather(*saves, flushed)
        assert texts(store, tmp_path) == ["turn 4"]

    asyncio.run(main())
    assert disk.began == ["turn 0", "turn 4"]


def test_the_conversation_may_go_on_while_it_is_saved(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written is the conversation as it was when the save was asked for."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        messages = said("one")
        save = asyncio.ensure_future(store.save_soon(ID, tmp_path, messages, CREATED))
        await until_it_began(disk)
        messages[1]["content"] = "changed"
        messages.append({"role": "user", "content": "two"})
        disk.go.set()
        await save

    asyncio.run(main())
    assert texts(store, tmp_path) == ["one"]


def test_sessions_are_saved_side_by_side(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One waits for the disk, not for the other."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        one = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        two = asyncio.ensure_future(store.save_soon(OTHER, tmp_path, said("two"), CREATED))
        await until_it_began(disk)
        await until_it_began(disk)
        disk.go.set()
        await asyncio.gather(one, two)

    asyncio.run(main())
    assert (texts(store, tmp_path), texts(store, tmp_path, OTHER)) == (["one"], ["two"])


def test_a_cancelled_turn_does_not_stop_its_save(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The waiting is cancelled, not the writing."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        save = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        await until_it_began(disk)
        save.cancel()
        await asyncio.wait({save})
        assert save.cancelled()
        disk.go.set()
        await store.flush()

    asyncio.run(main())
    assert texts(store, tmp_path) == ["one"]


def test_a_failed_save_is_made_good_by_a_newer_one(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newer one holds all that the older one held, so nobody is told of a failure that is over."""
    disk = Disk(monkeypatch)
    disk.errors.append(OSError(errno.ENOSPC, "No space left on device"))

    async def main() -> None:
        first = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        await until_it_began(disk)
        newer = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("two"), CREATED))
        await asyncio.sleep(0)
        disk.go.set()
        await asyncio.gather(first, newer)
        disk.errors.append(OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(StoreError, match="No space left on device"):
            await store.save_soon(ID, tmp_path, said("three"), CREATED)
        assert texts(store, tmp_path) == ["two"]

    asyncio.run(main())


def test_a_save_at_once_is_newer_than_those_that_wait(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Order is the order of the calls, whichever way they go."""
    disk = Disk(monkeypatch)

    async def main() -> None:
        first = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        await until_it_began(disk)
        second = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("two"), CREATED))
        await asyncio.sleep(0)
        disk.go.set()
        store.save(ID, tmp_path, said("three"), CREATED)
        await asyncio.gather(first, second)
        assert texts(store, tmp_path) == ["three"]

    asyncio.run(main())
    assert disk.began == ["one", "three"]


@pytest.mark.parametrize("act", ["release", "close", "open", "delete"])
def test_what_waits_is_settled_before_a_session_changes_hands(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Released, ended or reloaded: the last words are on disk first. Deleted: they do not come back."""
    store.save(ID, tmp_path, said("zero"), CREATED)
    disk = Disk(monkeypatch)

    async def main() -> None:
        saves = [asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))]
        await until_it_began(disk)
        saves.append(asyncio.ensure_future(store.save_soon(ID, tmp_path, said("two"), CREATED)))
        await asyncio.sleep(0)
        disk.go.set()
        if act == "release":
            store.release(ID)
        elif act == "close":
            store.close()
        elif act == "open":
            assert store.open(tmp_path, ID).messages == said("two")
        else:
            store.delete(tmp_path, ID)
        if act != "open":
            assert f"{ID}.lock" not in names(tmp_path)
        await asyncio.gather(*saves)

    asyncio.run(main())
    assert disk.began == (["one"] if act == "delete" else ["one", "two"])
    if act == "delete":
        assert names(tmp_path) == {".gitignore"}
    else:
        assert texts(second, tmp_path) == ["two"]


def test_closing_releases_all_even_if_a_last_save_fails(
    store: SessionStore, second: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is told, after everything that can be done is done."""
    store.save(OTHER, tmp_path, said("x"), CREATED)
    disk = Disk(monkeypatch)
    full = OSError(errno.ENOSPC, "No space left on device")
    disk.errors += [full, full]

    async def main() -> None:
        save = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        await until_it_began(disk)
        disk.go.set()
        with pytest.raises(StoreError, match="No space left on device"):
            store.close()
        await asyncio.wait({save})
        assert isinstance(save.exception(), StoreError)

    asyncio.run(main())
    second.acquire(tmp_path, ID)
    second.open(tmp_path, OTHER)


def test_a_loop_that_ends_leaves_the_store_usable(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write that it waited for ends by itself, and the next loop can save."""
    disk = Disk(monkeypatch)

    async def leave() -> None:
        asyncio.get_running_loop().set_default_executor(UnawaitedThreads())
        save = asyncio.ensure_future(store.save_soon(ID, tmp_path, said("one"), CREATED))
        await until_it_began(disk)
        save.cancel()

    asyncio.run(leave())
    disk.go.set()
    asyncio.run(store.save_soon(ID, tmp_path, said("two"), CREATED))
    assert texts(store, tmp_path) == ["two"]


HANGING_DISK = """
import asyncio, sys, threading
from datetime import datetime, UTC
from pathlib import Path
from acp_agent.agent import session_files
from acp_agent.agent.store import SessionStore
from acp_agent.agent.threads import UnawaitedThreads

async def main():
    asyncio.get_running_loop().set_default_executor(UnawaitedThreads())
    began = threading.Event()
    def replace(path, text):
        began.set()
        threading.Event().wait()
    session_files.replace = replace
    store = SessionStore("s")
    save = store.save_soon("20260822-093000-0123abcd", Path(sys.argv[1]), [], datetime.now(UTC))
    asyncio.ensure_future(save)
    while not began.is_set():
        await asyncio.sleep(0)

asyncio.run(main())
"""


def test_a_disk_that_hangs_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    """After the end of its input an agent is gone, whatever a network drive does."""
    done = subprocess.run(
        [sys.executable, "-c", HANGING_DISK, str(tmp_path)], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# --- killed at any instant


WRITER = """
import os, sys
from datetime import datetime, UTC
from pathlib import Path
from acp_agent.agent.store import SessionStore

cwd, directory, session_id = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
created = datetime(2026, 8, 22, tzinfo=UTC)
for line in sys.stdin:
    number, size = map(int, line.split())
    pid = os.fork()
    if pid == 0:
        store = SessionStore(directory)
        while True:
            number += 1
            content = f"{number} " + "x" * size
            store.save(session_id, cwd, [{"role": "user", "content": content}], created)
            os.write(1, b"saved %d\\n" % number)
    os.write(1, b"writer %d\\n" % pid)
    os.waitpid(pid, 0)
    os.write(1, b"gone 0\\n")
"""


def test_a_kill_at_any_instant_leaves_a_valid_file_no_older_than_the_last_save(tmp_path: Path) -> None:
    """A kill -9 at random instants of a process that does nothing but save, in sizes from nothing to megabytes."""
    chance = random.Random(KILLS)
    store = SessionStore(DIRECTORY)
    command = [sys.executable, "-c", WRITER, str(tmp_path), DIRECTORY, ID]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        number = 0
        for _ in range(KILLS):
            size = chance.choice([0, 10_000, 300_000, 3_000_000])
            parent.stdin.write(f"{number} {size}\n")
            parent.stdin.flush()
            heard: dict[str, int] = {}
            while not {"saved", "writer"} <= heard.keys():
                word, value = parent.stdout.readline().split()
                heard[word] = int(value)
            time.sleep(chance.random() * 0.01)  # the random instant
            os.kill(heard["writer"], signal.SIGKILL)
            while "gone" not in heard:
                word, value = parent.stdout.readline().split()
                heard[word] = int(value)
            (content,) = texts(store, tmp_path)
            word, _, rest = str(content).partition(" ")
            number = int(word)
            assert number in {heard["saved"], heard["saved"] + 1}
            assert rest == "x" * size
        parent.stdin.close()
    # The next save of the session cleans up after all of them.
    store.save(ID, tmp_path, said("alive"), CREATED)
    store.close()
    assert names(tmp_path) == {f"{ID}.json", ".gitignore"}
