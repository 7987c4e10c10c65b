"""What turns work with: a session with skills has one tool more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_agent.agent.skills import load_skills


def names(tools: Any) -> list[str]:
    return [name for name, _, _ in tools.specs()]


def test_a_session_without_skills_has_the_tools_of_all(kit: Any, wired: Any) -> None:
    """No tool that could find nothing."""
    engine = wired.engine(kit.HandModel())
    assert engine.tools_of(wired.session) is engine.tools
    # What it called when there were skills is still known for what it was.
    assert names(engine.tools_ever_of(wired.session)) == ["work", "read_skill"]
    assert engine.tools_of(wired.session) is engine.tools


def test_a_session_with_skills_can_read_them(kit: Any, wired: Any, tmp_path: Path) -> None:
    """`read_skill`, made once for the session, never asked for, counted as a skill."""
    folder = tmp_path / "skills" / "greetings"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greetings\ndescription: Greet somebody.\n---\nSay hello.\n")
    wired.session.skills = load_skills(tmp_path, ("skills",), tmp_path)
    engine = wired.engine(kit.HandModel())
    tools = engine.tools_of(wired.session)
    assert names(tools) == ["work", "read_skill"]
    assert engine.tools_of(wired.session) is tools
    assert names(engine.tools) == ["work"]
    tool = next(tool for tool in tools if tool.name == "read_skill")
    assert (tool.needs_permission, tool.counts_as, tool.kind) == (False, "skill", "read")
