"""Permissions: each question gets its own answer, and a cancel answers those that are open."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

CANCELLED = {"result": {"outcome": {"outcome": "cancelled"}}}


def selected(option: str) -> dict[str, Any]:
    return {"result": {"outcome": {"outcome": "selected", "optionId": option}}}


def all_three(choose: Any) -> Any:
    """A script that answers three questions; choose gets the options."""

    async def script(puppet: Any) -> None:
        puppet.answers["session/request_permission"] = lambda params: choose(params["options"])
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    return script


def test_three_questions_get_three_answers_whatever_they_are(play: Any) -> None:
    """R-181: to reject one of them is an answer."""
    for index in (0, 1):
        result = play(
            "permission/three-at-once", all_three(lambda options, i=index: selected(options[i]["optionId"]))
        )
        assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


def test_the_answer_of_another_question_is_found(play: Any) -> None:
    """R-175: an option is one of those that were offered with it."""
    result = play("permission/three-at-once", all_three(lambda options: selected("one-yes")))
    assert result.failed_rules == ("R-175",)


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (CANCELLED, ()),
        (selected("yes"), ("R-154", "R-177")),
        ({"error": {"code": -32800, "message": "cancelled"}}, ("R-154", "R-177")),
    ],
    ids=["cancelled", "a choice", "an error"],
)
def test_what_is_open_when_the_turn_is_cancelled(
    play: Any, answer: dict[str, Any], failed: tuple[str, ...]
) -> None:
    """R-154: the outcome cancelled, and nothing else."""

    async def script(puppet: Any) -> None:
        puppet.answers["session/request_permission"] = answer
        puppet.delay_s = 0.2
        await puppet.hello()
        await puppet.open()
        turn = asyncio.create_task(puppet.prompt())
        await puppet.until(lambda: puppet.asked)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await turn

    assert play("permission/cancel-while-open", script).failed_rules == failed
