"""Deaths: to start the agent again, to exit with an error and to say so are all ways of noticing."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.scenarios.dying import _gave_up, _noticed

SAYS_SO = Display(({"kind": "error", "text": "the agent has ended"},))


def look_back(judge: Any, **members: Any) -> list[bool]:
    known = {"notes": {}, "exit_code": 0, "hung": False, "display": None, "lives": 1} | members
    after = Aftermath(("R-301",), **known)
    judge(after)
    return [check.ok for check in after.checks]


@pytest.mark.parametrize(
    ("members", "noticed"),
    [
        ({"exit_code": 1}, True),
        ({"exit_code": 0, "display": SAYS_SO}, True),
        ({"exit_code": 0, "lives": 2}, True),
        ({"exit_code": 0}, False),
        ({"exit_code": None, "hung": True}, False),
        ({"exit_code": None, "hung": True, "lives": 2}, False),
    ],
    ids=["exit code", "display", "started again", "success", "hangs", "hangs with another"],
)
def test_what_counts_as_noticing(members: dict[str, Any], noticed: bool) -> None:
    """R-301: no hang, no success; a client may start the agent anew and go on."""
    assert look_back(_noticed, **members) == [noticed]


def test_an_editor_that_is_not_watched_is_not_judged() -> None:
    """Nobody knows what it showed."""
    assert look_back(_noticed, exit_code=None) == []


def test_a_client_that_stays_with_a_mute_agent_is_found() -> None:
    """R-301: it noticed only when the agent's process was gone, which was no merit of its own."""
    assert look_back(_gave_up, exit_code=1, notes={"left": False}) == [False]
    assert look_back(_gave_up, exit_code=1, notes={"left": True}) == [True]
