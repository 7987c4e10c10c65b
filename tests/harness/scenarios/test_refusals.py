"""Refusals: to try a few times, to give up at once and to log in in between are all right."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict


@pytest.mark.parametrize(("attempts", "verdict"), [(1, Verdict.PASS), (5, Verdict.PASS), (12, Verdict.FAIL)])
def test_sessions_may_be_asked_for_a_few_times(play: Any, attempts: int, verdict: Verdict) -> None:
    """R-306."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        for _ in range(attempts):
            await puppet.open()

    assert play("misbehaviour/refuses-every-session", script, exit_code=1).verdict is verdict


@pytest.mark.parametrize("logs_in", [True, False])
def test_a_prompt_may_be_repeated_after_a_login(play: Any, logs_in: bool) -> None:
    """Once is no storm, and a client without logins may simply say so."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        if logs_in:
            await puppet.call("authenticate", {"methodId": "token"})
            await puppet.prompt()

    assert play("misbehaviour/login-needed-in-a-turn", script, exit_code=1).verdict is Verdict.PASS


def test_a_client_may_leave_after_a_failed_turn(play: Any) -> None:
    """A turn that failed is reason enough."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play("misbehaviour/errors-with-data", script, exit_code=1)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())
