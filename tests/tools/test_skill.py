"""read_skill: the call's form, and what the model is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acp_agent.tools.base import ToolError
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.skill import ReadSkillTool

BODIES = {"greetings": "Say hello.\n"}


def bodies(name: str) -> str:
    if name not in BODIES:
        raise ToolError(f'There is no skill "{name}".')
    return BODIES[name]


def test_a_skill_is_read_by_its_name() -> None:
    """The text is given as it is."""
    result = asyncio.run(ReadSkillTool(bodies).run({"name": "greetings"}, Path("/")))
    assert (result.output, result.failed, result.diff) == ("Say hello.\n", False, None)


@pytest.mark.parametrize("name", ["$greetings", "/greetings", " greetings\n"])
def test_the_sign_of_the_prompt_is_no_part_of_the_name(name: str) -> None:
    """A model that copies `$greetings` from the prompt means the skill."""
    tool = ReadSkillTool(bodies)
    assert asyncio.run(tool.run({"name": name}, Path("/"))).output == "Say hello.\n"
    assert tool.title({"name": name}) == "read_skill: greetings"


def test_an_unknown_skill_is_a_refusal_the_model_can_read() -> None:
    """Whoever knows the skills words it."""
    with pytest.raises(ToolError, match='There is no skill "nothing"'):
        asyncio.run(ReadSkillTool(bodies).run({"name": "nothing"}, Path("/")))


def test_a_client_sees_a_reading_that_is_never_asked_about() -> None:
    """Kind read, a title with the name, no permission, counted as a skill."""
    tool = ReadSkillTool(bodies)
    assert (tool.name, tool.kind, tool.needs_permission, tool.counts_as) == (
        "read_skill",
        "read",
        False,
        "skill",
    )
    assert tool.title({"name": "greetings"}) == "read_skill: greetings"
    assert tool.locations({"name": "greetings"}, Path("/")) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("{}", 'read_skill needs the argument "name"'),
        ('{"name": 3}', "/name must be of type string"),
        ('{"name": ""}', "/name must not be empty"),
    ],
)
def test_a_call_without_a_usable_name_is_refused(arguments: str, sentence: str) -> None:
    """The schema says what a call needs."""
    with pytest.raises(ToolError, match=sentence):
        ToolRegistry([ReadSkillTool(bodies)]).parse("read_skill", arguments)
