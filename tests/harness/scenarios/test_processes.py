"""Processes: every way to end an agent that lingers is right, and so is to give up after its death."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.scenarios.processes import _started_again, _was_ended
from acp_agent.harness.verdict import Verdict

TRIED = Display(({"kind": "user", "turn": 2, "text": "Are you there again?"},))
QUIET = Display(({"kind": "user", "turn": 1, "text": "Hello."},))


def look_back(judge: Any, rule: str, **members: Any) -> list[bool]:
    known = {"notes": {}, "exit_code": 0, "hung": False, "display": None, "lives": 1} | members
    after = Aftermath((rule,), **known)
    judge(after)
    return [check.ok for check in after.checks]


@pytest.mark.parametrize(
    ("notes", "checks"),
    [({"lingers": True}, [True]), ({"lingers": True, "has ended": True}, []), ({}, [])],
    ids=["killed outright", "judged already", "never came so far"],
)
def test_an_agent_that_was_killed_outright_was_ended(notes: dict[str, Any], checks: list[bool]) -> None:
    """R-307: the process had no time to say more."""
    assert look_back(_was_ended, "R-307", notes=notes) == checks


@pytest.mark.parametrize(
    ("members", "checks"),
    [
        ({"lives": 2}, []),
        ({"exit_code": 1}, [True]),
        ({"exit_code": 0, "display": TRIED}, [False]),
        ({"exit_code": 0, "display": QUIET}, []),
        ({"exit_code": 0}, []),
        ({"exit_code": None, "hung": True}, [False]),
    ],
    ids=["started again", "says so", "tried and said nothing", "did not try", "no record", "hangs"],
)
def test_what_may_follow_a_death(members: dict[str, Any], checks: list[bool]) -> None:
    """R-301: whoever does not try to go on shows nothing, good or bad."""
    assert look_back(_started_again, "R-301", **members) == checks


def test_a_burst_is_whole_after_a_stall(play: Any) -> None:
    """R-304, R-308."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play("process/stall-then-a-small-line", script, records=True)
    assert {outcome.verdict for outcome in result.outcomes} == {Verdict.PASS}
