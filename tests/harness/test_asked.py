"""A request of the agent and its answer: what an answer says, whatever its form, and how long it is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from acp_agent.harness.asked import ANSWER_S, NO_ANSWER, Answer, Asked
from acp_agent.harness.endings import NotExercised


@pytest.mark.parametrize(
    ("message", "is_result", "code", "outcome", "option_id"),
    [
        (None, False, None, None, None),
        ({"id": 1, "result": None}, True, None, None, None),
        ({"id": 1, "result": {"outcome": {"outcome": "cancelled"}}}, True, None, "cancelled", None),
        (
            {"id": 1, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}},
            True,
            None,
            "selected",
            "yes",
        ),
        ({"id": 1, "result": {"outcome": "selected", "optionId": "yes"}}, True, None, None, None),
        ({"id": 1, "result": {"outcome": {"outcome": 7, "optionId": ["yes"]}}}, True, None, None, None),
        ({"id": 1, "error": {"code": -32601, "message": ""}}, False, -32601, None, None),
        ({"id": 1, "error": {"code": "x"}}, False, None, None, None),
        ({"id": 1, "error": "a string"}, False, None, None, None),
        ({"id": 1, "result": [1, 2]}, True, None, None, None),
    ],
)
def test_an_answer_of_any_form_can_be_asked_for_what_it_says(
    message: dict[str, Any] | None,
    is_result: bool,
    code: int | None,
    outcome: str | None,
    option_id: str | None,
) -> None:
    """A client may send anything; what is not there is None."""
    answer = Answer(message, 3)
    assert answer.arrived is (message is not None)
    assert (answer.is_result, answer.code) == (is_result, code)
    assert (answer.outcome, answer.option_id) == (outcome, option_id)


def test_an_answer_is_told_in_short() -> None:
    """In a report; nothing is told as such."""
    assert str(NO_ANSWER) == "no answer"
    assert str(Answer({"id": 1, "result": {}})) == '{"id":1,"result":{}}'
    long = str(Answer({"id": 1, "result": {"text": "x" * 5000}}))
    assert len(long) < 400
    assert long.endswith("...")


class Waits:
    """Takes down how long is waited, and lets what is waited for come, or not."""

    def __init__(self, come: Callable[[], None] = lambda: None) -> None:
        self.waited: list[float] = []
        self.come = come

    async def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        self.waited.append(within_s)
        self.come()
        return condition()


def test_the_first_of_several_answers_counts() -> None:
    """The others are there for who counts them."""
    asked: Asked

    def come() -> None:
        asked.answers += [Answer({"id": 5, "result": 1}, 8), Answer({"id": 5, "result": 2}, 9)]

    asked = Asked(5, "x/y", 7, Waits(come).until)
    assert not asked.is_answered
    assert asyncio.run(asked.answer()).number == 8
    assert asked.is_answered
    assert len(asked.answers) == 2


@pytest.mark.parametrize(("within_s", "waited"), [(None, ANSWER_S), (3.0, 3.0)])
def test_without_an_answer_there_is_none(within_s: float | None, waited: float) -> None:
    """The wait ends."""
    waits = Waits()
    asked = Asked("id", "session/request_permission", 0, waits.until)
    answer = asyncio.run(asked.answer() if within_s is None else asked.answer(within_s))
    assert answer is NO_ANSWER
    assert waits.waited == [waited]


def test_a_person_is_waited_for_longer_and_breaks_no_rule_by_taking_longer_still() -> None:
    """docs/harness.md: what you do not do in time is not exercised."""
    waits = Waits()
    asked = Asked("id", "session/request_permission", 0, waits.until, 4.0)
    with pytest.raises(NotExercised):
        asyncio.run(asked.answer(3.0))
    assert waits.waited == [12.0]
