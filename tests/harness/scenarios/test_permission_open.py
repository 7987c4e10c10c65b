"""Open permission requests: early, late and other answers that are right."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

HELD = [
    "permission/withdrawn",
    "permission/withdrawn-at-the-end",
    "permission/update-while-open",
    "permission/turn-ends-while-open",
]
CANCELLED = {"result": {"outcome": {"outcome": "cancelled"}}}
ALLOWED = {"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
STOPPED = {"error": {"code": -32800, "message": "Request cancelled"}}
PERMISSION = "session/request_permission"


def holds(answer: Any) -> Any:
    """A script of a client that answers a permission when it is withdrawn."""

    async def script(puppet: Any) -> None:
        puppet.holds.add(PERMISSION)
        await puppet.hello()
        await puppet.open()
        turn = asyncio.create_task(puppet.prompt())
        await puppet.until(lambda: puppet.notices)
        (request,) = [message for message in puppet.asked if message["method"] == PERMISSION]
        puppet.send({"jsonrpc": "2.0", "id": request["id"], **answer})
        await turn

    return script


@pytest.mark.parametrize("answer", [CANCELLED, STOPPED, ALLOWED], ids=["cancelled", "-32800", "crossing"])
@pytest.mark.parametrize("scenario", HELD[:3])
def test_a_withdrawn_request_may_be_answered_in_three_ways(play: Any, scenario: str, answer: Any) -> None:
    """R-166, R-170, and a choice that crossed the withdrawal."""
    assert play(scenario, holds(answer)).failed_rules == ()


@pytest.mark.parametrize("scenario", HELD)
def test_a_client_that_answers_at_once_is_not_blamed(play: Any, scenario: str) -> None:
    """It has left nothing open: not exercised."""

    async def prompt_client(puppet: Any) -> None:
        puppet.answers[PERMISSION] = ALLOWED
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(scenario, prompt_client)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())


@pytest.mark.parametrize("scenario", ["permission/withdrawn", "permission/update-while-open"])
def test_who_lets_a_withdrawal_pass_owes_no_answer_that_its_user_has_not_given(
    play: Any, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-162: $/cancel_request may be ignored; the answer at the end of the turn comes too late for this script."""
    monkeypatch.setattr("acp_agent.harness.asked.Asked.answer.__defaults__", (0.05,))

    async def ignores(puppet: Any) -> None:
        puppet.holds.add(PERMISSION)
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(scenario, ignores)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())
    assert "R-162" in result.reason


@pytest.mark.parametrize("answer", [CANCELLED, STOPPED, {"error": {"code": -32602, "message": "no options"}}])
def test_nothing_to_choose_may_be_cancelled_or_refused(play: Any, answer: Any) -> None:
    """R-016, R-175: there is no option to select."""

    async def script(puppet: Any) -> None:
        puppet.answers[PERMISSION] = answer
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    assert play("permission/no-options", script).verdict is Verdict.PASS


def test_an_empty_question_may_stand_until_it_is_withdrawn(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person cannot press a button that is not there."""
    monkeypatch.setattr("acp_agent.harness.scenarios.permission_open._CHOICE_S", 0.01)
    assert play("permission/no-options", holds(CANCELLED)).verdict is Verdict.PASS


def cancels(method: str, params: Any, answer: Any) -> Any:
    """A script of a client that cancels the turn at its first update and answers permissions so."""

    async def script(puppet: Any) -> None:
        puppet.answers[PERMISSION] = answer
        await puppet.hello()
        await puppet.open()
        turn = asyncio.create_task(puppet.prompt())
        await puppet.until(lambda: puppet.updates)
        puppet.notify(method, params(puppet))
        await turn

    return script


def test_a_permission_after_a_cancel_of_the_prompt_by_id_may_be_asked(play: Any) -> None:
    """R-154 is about session/cancel; $/cancel_request on the prompt binds nobody to an outcome."""
    script = cancels("$/cancel_request", lambda puppet: {"requestId": puppet._next_id}, ALLOWED)
    assert play("permission/asked-after-cancel", script).failed_rules == ()


def test_a_permission_after_a_cancel_is_cancelled(play: Any) -> None:
    """R-154, R-177."""
    right = cancels("session/cancel", lambda puppet: {"sessionId": puppet.session}, CANCELLED)
    assert play("permission/asked-after-cancel", right).verdict is Verdict.PASS
    wrong = cancels("session/cancel", lambda puppet: {"sessionId": puppet.session}, ALLOWED)
    assert set(play("permission/asked-after-cancel", wrong).failed_rules) == {"R-154", "R-177"}
