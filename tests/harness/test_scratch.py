"""The directory for a script's files: inside the session's, and gone afterwards."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scratch import scratch


def stage_in(cwd: str) -> Any:
    sessions = {"s": SimpleNamespace(cwd=cwd)}
    conversation = SimpleNamespace(sessions=sessions)
    connection = SimpleNamespace(conversation=conversation)
    return SimpleNamespace(wire=SimpleNamespace(observer=SimpleNamespace(connection=connection)))


def turn_in(session_id: str) -> Any:
    return SimpleNamespace(session_id=session_id)


def breaks_down_in(directory: Path) -> None:
    assert directory.parent.name == "project"
    (directory / "file").write_text("x", encoding="utf-8")
    raise ZeroDivisionError


def test_a_scratch_directory_is_inside_and_gone_at_the_end(tmp_path: Path) -> None:
    """Nothing stays in a person's project, whatever was put there and however the script ends."""
    project = tmp_path / "project"
    project.mkdir()
    with pytest.raises(ZeroDivisionError), scratch(stage_in(str(project)), turn_in("s")) as directory:
        breaks_down_in(directory)
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(("session_id", "cwd"), [("s", "elsewhere"), ("another", "elsewhere"), ("s", "")])
def test_a_client_on_another_machine_is_not_exercised(tmp_path: Path, session_id: str, cwd: str) -> None:
    """Its directory is not here; nor is the agent's own one used instead."""
    path = str(tmp_path / cwd) if cwd else ""
    with pytest.raises(NotExercised), scratch(stage_in(path), turn_in(session_id)):
        pass
