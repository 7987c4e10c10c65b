"""What a driven client is given: words that a shell leaves whole, and two variables."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.plan import DISPLAY_VARIABLE, PLAN_VARIABLE, command_line, environment, is_plan

ODD = 'it\'s "$HOME" `id`; {cwd} * \n two'


def test_each_placeholder_is_one_word_whatever_it_holds() -> None:
    """And a placeholder within a value is none."""
    line = command_line(
        "client --agent {agent} {prompt} --cwd={cwd} {other}",
        agent=["python", ODD],
        prompt=ODD,
        cwd=Path("/a b"),
    )
    words = shlex.split(line)
    assert shlex.split(words[2]) == ["python", ODD]
    assert words[3:] == [ODD, "--cwd=/a b", "{other}"]


def test_the_environment_carries_plan_and_record_and_leaves_the_rest() -> None:
    """The client reads the plan as JSON."""
    steps = [{"after": "chunk:1", "do": "cancel"}]
    made = environment({"PATH": "/bin"}, plan=steps, display=Path("/tmp/d.jsonl"))
    assert json.loads(made[PLAN_VARIABLE]) == steps
    assert (made[DISPLAY_VARIABLE], made["PATH"]) == ("/tmp/d.jsonl", "/bin")


@pytest.mark.parametrize(
    "steps",
    [
        {},
        [{}],
        [{"on": "permission"}],
        [{"after": "chunk", "do": "cancel"}],
        [{"on": "end", "do": "dance"}],
        [{"on": "ready", "do": "set_mode"}],
    ],
)
def test_what_no_client_could_play_is_no_plan(steps: object) -> None:
    """By the schema that the page in docs describes."""
    assert not is_plan(steps)


def test_all_scenarios_have_plans() -> None:
    """Each step with the names that clients look for."""
    assert all(is_plan([dict(step) for step in scenario.user]) for scenario in all_scenarios())
