"""When sessions are saved, and that a disk which can't costs a warning and nothing else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import keeper as keeper_module
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
            keeper.load(tmp_path, wired.session.id)
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
        again = Keeper(SessionStore("kept"), wired.log).load(wired.session.cwd, wired.session.id)
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
            async def keep(self, session: Any) -> None:
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
        assert other.load(wired.session.cwd, kept_id).messages
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


def test_a_disk_that_hangs_does_not_hold_up_the_answer(
    kit: Any, wired: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network share that is gone: after a moment the turn goes on without, and so does the end."""

    class Hanging:
        async def save_soon(self, *_: object) -> None:
            await asyncio.Event().wait()

        async def flush(self) -> None:
            await asyncio.Event().wait()

    async def scenario() -> None:
        monkeypatch.setattr(keeper_module, "_SAVE_S", 0.01)
        keeper = Keeper(Hanging(), wired.log)  # type: ignore[arg-type]
        await keeper.keep(wired.session)
        with pytest.raises(StoreError, match="takes more than"):
            await keeper.keep_apart(wired.session)
        await keeper.end(0.01)
        assert len(wired.log.lines) == 2
        assert all("warning: " in line for line in wired.log.lines)

    kit.run(scenario())
