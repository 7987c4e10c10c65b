"""Races: what may have crossed is nobody's fault, and an ignored cancel may be answered by many means."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.scenarios import cancel_races
from acp_agent.harness.verdict import Verdict

ALLOWED = {"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}


async def _started(puppet: Any) -> asyncio.Task[Any]:
    await puppet.hello()
    await puppet.open()
    turn = asyncio.create_task(puppet.prompt())
    await puppet.until(lambda: puppet.updates)
    return turn


def test_a_permission_answered_before_the_cancel_may_be_any_choice(play: Any) -> None:
    """R5: the choice came first on the wire."""

    async def script(puppet: Any) -> None:
        puppet.answers["session/request_permission"] = ALLOWED
        turn = await _started(puppet)
        await puppet.until(lambda: puppet.asked)
        await asyncio.sleep(0.01)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await turn

    result = play("cancel/crosses-a-permission", script)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())


def test_a_turn_that_ended_before_the_cancel_was_sent_proves_nothing(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1 lost: the client has read the end and does not cancel."""
    monkeypatch.setattr(cancel_races, "_CROSSING_S", 0.05)

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        await turn
        await asyncio.sleep(0.1)

    result = play("cancel/crosses-the-end", script)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())


@pytest.mark.parametrize("way", ["close", "new", "leave", "prompt"])
def test_an_ignored_cancel_may_be_answered_by_any_means(
    play: Any, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-305: close the session, open another, give the agent up, or simply send the next prompt."""
    monkeypatch.setattr(cancel_races, "_PATIENCE_S", 1.0)

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await asyncio.sleep(0.01)
        if way == "close":
            await puppet.call("session/close", {"sessionId": puppet.session})
        elif way == "new":
            await puppet.open()
            await puppet.prompt("Elsewhere.")
        elif way == "prompt":
            await puppet.prompt("Go on.")
        if way == "leave":
            turn.cancel()
        else:
            await turn

    result = play("cancel/ignored", script, records=True)
    assert "R-305" not in result.failed_rules


def test_who_takes_the_late_answer_for_the_end_of_the_next_turn_is_found(play: Any) -> None:
    """R-305: an answer belongs to the request of its id."""

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        second = asyncio.create_task(puppet.prompt("Go on."))
        await turn
        second.cancel()

    assert play("cancel/ignored", script).failed_rules == ("R-305",)


@pytest.mark.parametrize(
    ("before", "ok"), [("", True), ("and on, ", True), ("and on, and on, ", True), ("x", False)]
)
def test_what_crossed_the_next_prompt_may_be_shown_in_its_turn(play: Any, before: str, ok: bool) -> None:
    """R-308: the order on the wire does not settle whose text it is."""

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await puppet.prompt("Go on.")
        await turn
        puppet.shown = [{"kind": "end", "turn": 2, "text": f"{before}A new turn, to its end."}]

    result = play("cancel/ignored", script, records=True)
    assert (result.failed_rules == (), "R-308" in result.failed_rules) == (ok, not ok)


def test_waiting_without_end_is_found(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-305."""
    monkeypatch.setattr(cancel_races, "_PATIENCE_S", 0.02)
    monkeypatch.setattr(cancel_races, "_STREAM_S", 0.01)

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await turn

    assert play("cancel/ignored", script).failed_rules == ("R-305",)


def test_an_error_instead_of_the_end_may_be_the_end(play: Any) -> None:
    """A client may leave after an error."""

    async def script(puppet: Any) -> None:
        turn = await _started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        assert (await turn)["error"]["code"] == -32603

    result = play("cancel/internal-error-instead", script, exit_code=1)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())
