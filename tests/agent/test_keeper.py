"""When sessions are saved, and that a disk which can't costs a warning and nothing else."""

from __future__ import annotations

import asyncio
import errno
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import keeper as keeper_module
from acp_agent.agent import session_files
from acp_agent.agent.keeper import Keeper
from acp_agent.agent.session import new_session_id
from acp_agent.agent.store import SessionStore, StoreError
from acp_agent.agent.turn import PromptTurn


@pytest.fixture
def keeper(wired: Any) -> Keeper:
    """A keeper whose store is in the session's directory; the session gets an id of the right form."""
    wired.session.id = new_session_id()
    return Keeper(SessionStore("kept"), wired.log)


def stored(wired: Any, id_: str | None = None) -> Any:
    return json.loads((wired.session.cwd / "kept" / f"{id_ or wired.session.id}.json").read_text())


def test_without_a_store_nothing_happens(kit: Any, wired: Any, tmp_path: Path) -> None:
    """Disabled: nothing is written, nothing can be loaded."""

    async def scenario() -> None:
        keeper = Keeper(None, wired.log)
        keeper.begin(wired.session)
        await keeper.keep(wired.session)
        with pytest.raises(StoreError):
            await keeper.keep_apart(wired.session)
        with pytest.raises(StoreError):
            await keeper.load(tmp_path, wired.session.id)
        await keeper.end(1)
        assert not keeper.keeps
        assert wired.log.lines == []

    kit.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_a_session_is_on_disk_at_once_and_after_each_turn(kit: Any, wired: Any, keeper: Keeper) -> None:
    """What a client has seen answered can be loaded."""

    async def scenario() -> None:
        keeper.begin(wired.session)
        assert "question" not in json.dumps(stored(wired))
        wired.session.history.begin_turn("question")
        wired.session.history.add_answer("answer")
        wired.session.history.end_turn("")
        await keeper.keep(wired.session)
        assert "answer" in json.dumps(stored(wired))
        await keeper.end(5)
        again = await Keeper(SessionStore("kept"), wired.log).load(wired.session.cwd, wired.session.id)
        assert [one["content"] for one in again.messages][-2:] == ["question", "answer"]
        assert wired.log.lines == []

    kit.run(scenario())


def test_a_turn_is_saved_before_it_is_answered(kit: Any, wired: Any) -> None:
    """A client that has seen the answer can rely on it."""

    async def scenario() -> None:
        wired.prompt()
        model = kit.HandModel([kit.text("answer"), kit.stop()])
        saved_when: list[bool] = []

        class Watching(Keeper):
            async def keep(self, session: Any, within_s: float = 0) -> None:
                saved_when.append(bool(wired.take() and wired.answers("p1")))

        watching = Watching(SessionStore("kept"), wired.log)
        await PromptTurn("p1", wired.session, "q", wired.peer, wired.engine(model, watching)).run()
        wired.take()
        assert saved_when == [False]
        assert wired.answers("p1")

    kit.run(scenario())


def test_a_conversation_is_kept_apart_under_a_new_id(kit: Any, wired: Any, keeper: Keeper) -> None:
    """/new saves what was said so far, and another may open it at once."""

    async def scenario() -> None:
        wired.session.history.begin_turn("old")
        wired.session.history.add_answer("talk")
        wired.session.history.end_turn("")
        kept_id = await keeper.keep_apart(wired.session)
        assert kept_id != wired.session.id
        assert "talk" in json.dumps(stored(wired, kept_id))
        other = Keeper(SessionStore("kept"), wired.log)
        assert (await other.load(wired.session.cwd, kept_id)).messages
        await other.end(5)
        await keeper.end(5)

    kit.run(scenario())


def test_a_disk_that_cannot_be_written_is_a_warning(kit: Any, wired: Any, keeper: Keeper) -> None:
    """A read-only or full disk: a warning on stderr, and the conversation goes on."""

    async def scenario() -> None:
        (wired.session.cwd / "kept").write_text("a file in the way")
        keeper.begin(wired.session)
        await keeper.keep(wired.session)
        with pytest.raises(StoreError, match="cannot be"):
            await keeper.keep_apart(wired.session)
        await keeper.end(5)
        assert len(wired.log.lines) >= 2
        assert all("warning: " in line for line in wired.log.lines)

    kit.run(scenario())


class HangingDisk:
    """Every replacement of a file waits until it is let through."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.began = threading.Event()
        self.go = threading.Event()
        self._real = session_files.replace
        patch.setattr(session_files, "replace", self._replace)
        patch.setattr(keeper_module, "_SAVE_S", 0.01)

    def _replace(self, path: Path, text: bytes) -> None:
        self.began.set()
        assert self.go.wait(60)
        self._real(path, text)


def test_a_disk_that_hangs_does_not_hold_up_the_answer(
    kit: Any, wired: Any, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network share that is gone: after a moment the turn goes on without, and so do a load and the end."""

    async def scenario() -> None:
        keeper.begin(wired.session)
        disk = HangingDisk(monkeypatch)
        await keeper.keep(wired.session)
        with pytest.raises(StoreError, match="takes more than"):
            await keeper.load(wired.session.cwd, wired.session.id)
        await keeper.end(0.01)
        assert len(wired.log.lines) == 2
        assert all("warning: " in line for line in wired.log.lines)
        disk.go.set()
        await keeper.end(10)

    kit.run(scenario())


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_copy_that_comes_too_late_does_not_stay(
    kit: Any, wired: Any, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    """/new that was given up, or cancelled, leaves no second conversation that nobody knows of."""

    async def scenario() -> None:
        keeper.begin(wired.session)
        disk = HangingDisk(monkeypatch)
        if cancelled:
            monkeypatch.setattr(keeper_module, "_SAVE_S", 60)
        keeping = asyncio.ensure_future(keeper.keep_apart(wired.session))
        assert await asyncio.to_thread(disk.began.wait, 60)
        if cancelled:
            keeping.cancel()
        await asyncio.wait({keeping})
        assert keeping.cancelled() or isinstance(keeping.exception(), StoreError)
        disk.go.set()

    kit.run(scenario())  # with the threads it has started
    ours = {f"{wired.session.id}.json", f"{wired.session.id}.lock", ".gitignore"}
    assert {path.name for path in (wired.session.cwd / "kept").iterdir()} == ours


def test_a_turn_that_could_not_be_saved_is_there_after_a_reload(
    kit: Any, wired: Any, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full when the turn ended, and is not any more when the client loads the session again."""

    async def scenario() -> None:
        keeper.begin(wired.session)
        wired.session.history.begin_turn("question")
        wired.session.history.add_answer("answer")
        wired.session.history.end_turn("")

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(session_files, "replace", full)
            await keeper.keep(wired.session)
            with pytest.raises(StoreError, match="No space left on device"):
                await keeper.load(wired.session.cwd, wired.session.id)
        loaded = await keeper.load(wired.session.cwd, wired.session.id)
        assert [one["content"] for one in loaded.messages][-2:] == ["question", "answer"]
        await keeper.end(10)

    kit.run(scenario())
