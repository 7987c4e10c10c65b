"""What doctor finds around the model: skills of this directory, the place for sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.config import SessionSettings, Settings, SkillSettings
from acp_agent.setup.findings import State
from acp_agent.setup.surroundings import findings


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own skills must not change what is found."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def write_skill(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Says hello.\n---\nHi.\n", encoding="utf-8"
    )


def test_without_anything_there_is_nothing_to_do(tmp_path: Path) -> None:
    """No skills, and sessions not kept, which is how Bob comes."""
    skills, sessions = findings(Settings(), tmp_path)
    assert (skills.state, skills.text) == (State.OK, "none found")
    assert sessions.state is State.SKIPPED
    assert "[sessions] enabled = true" in sessions.text


def test_skills_are_named_and_a_broken_one_is_to_be_mended(tmp_path: Path) -> None:
    """As the agent would read them here, in the directories that are configured."""
    write_skill(tmp_path / "mine" / "greetings", "greetings")
    write_skill(tmp_path / "mine" / "other", "Wrong Name")
    skills, _ = findings(Settings(skills=SkillSettings(("mine",))), tmp_path)
    assert skills.state is State.TO_DO
    assert skills.text.startswith("1 found: greetings; skill left out: ")
    assert "other/SKILL.md" in skills.text


def test_the_place_for_sessions_is_tried_when_they_are_kept(tmp_path: Path) -> None:
    *_, sessions = findings(Settings(sessions=SessionSettings(enabled=True, dir="kept")), tmp_path)
    assert (sessions.state, sessions.text) == (State.OK, f"{tmp_path}/kept can be made")
    assert list(tmp_path.iterdir()) == []
