"""Cancels: clients that stop by other means, or not at all, are not blamed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

STATES = ["before-anything", "while-talking", "while-thinking", "while-a-tool-runs", "last-updates"]


def stops(*, again: bool, times: int = 1, session: str | None = None) -> Any:
    """A script of a client that cancels its first turn some time in it, and prompts again or leaves."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        turn = asyncio.create_task(puppet.prompt())
        await asyncio.sleep(0.02)
        for _ in range(times):
            puppet.notify("session/cancel", {"sessionId": session or puppet.session})
        puppet.show("cancelled")
        await turn
        if again:
            await puppet.prompt("Go on.")

    return script


@pytest.mark.parametrize("state", STATES)
def test_a_cancel_and_another_prompt_pass(play: Any, state: str) -> None:
    """A second cancel changes nothing (R11)."""
    assert play(f"cancel/{state}", stops(again=True, times=2), records=True).verdict is Verdict.PASS


@pytest.mark.parametrize("state", STATES)
def test_a_client_may_leave_after_a_cancelled_turn(play: Any, state: str) -> None:
    """Nobody has to go on."""
    result = play(f"cancel/{state}", stops(again=False))
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())


def test_a_cancel_of_another_session_is_found(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-074: an agent would ignore it."""
    result = play("cancel/while-talking", stops(again=True, session="another"))
    assert result.failed_rules == ("R-074",)


def test_five_endings_are_told_apart_by_the_record(play: Any) -> None:
    """R-138, R-258: the record has each stop reason as it came."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        for _ in range(4):
            await puppet.prompt()
        turn = asyncio.create_task(puppet.prompt())
        await puppet.until(lambda: puppet.updates)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        await turn

    result = play("cancel/five-stop-reasons", script, records=True)
    assert {outcome.verdict for outcome in result.outcomes} == {Verdict.PASS}
