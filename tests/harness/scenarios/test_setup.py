"""Opening sessions: clients that look different and are right, and what is not held against anybody."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

COMMANDS = "available_commands_update"


async def one_turn(puppet: Any) -> None:
    """The least that a client does."""
    await puppet.hello()
    await puppet.open()
    await puppet.prompt()


@pytest.mark.parametrize(
    "scenario",
    [
        "setup/answered-with-nulls",
        "setup/commands-before-the-answer",
        "setup/nothing-advertised",
        "setup/null-containers",
        "setup/null-is-off",
        "setup/no-modes-to-set",
        "setup/some-capabilities",
    ],
)
def test_a_client_that_does_the_least_passes(play: Any, scenario: str) -> None:
    """What is not called is not called, whether or not somebody wanted it."""
    assert play(scenario, one_turn).verdict is Verdict.PASS


def test_a_client_need_not_show_commands(play: Any) -> None:
    """Without any in its record it has no menu, and loses none: R-308 is not exercised, the scenario passes."""

    async def no_menu(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt("/zz-status of everything")

    result = play("setup/commands-after-new", no_menu, records=True)
    assert result.verdict is Verdict.PASS
    assert [o.reason for o in result.outcomes if o.rule == "R-308"] == [
        f"the display record has nothing of {COMMANDS}"
    ]


def test_a_client_may_put_context_around_a_command(play: Any) -> None:
    """R-203: other text beside the command is allowed."""

    async def wraps(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt("/zz-status of everything\n\n(The cursor is in a.py.)")

    assert play("setup/commands-after-new", wraps).verdict is Verdict.PASS


def test_the_first_session_may_be_used_again(play: Any) -> None:
    """Whoever opens a second session may still prompt in the first: both ids are the agent's."""

    async def returns(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        first = puppet.session
        await puppet.prompt()
        await puppet.open()
        puppet.session = first
        await puppet.prompt()

    assert play("setup/two-sessions", returns).verdict is Verdict.PASS


def test_a_client_without_the_plan_is_not_exercised(play: Any) -> None:
    """One session is no fault."""
    assert play("setup/two-sessions", one_turn).verdict is Verdict.NOT_EXERCISED
    assert play("setup/load-answered-null", one_turn).verdict is Verdict.NOT_EXERCISED


def test_a_gated_call_fails_its_own_rule_and_the_one_about_null(play: Any) -> None:
    """The same call breaks R-071 where nothing is said, and R-036 too where null was said."""

    async def closes(puppet: Any) -> None:
        await one_turn(puppet)
        answer = await puppet.call("session/close", {"sessionId": puppet.session})
        assert answer["error"]["code"] == -32601

    assert play("setup/nothing-advertised", closes).failed_rules == ("R-071",)
    assert set(play("setup/null-is-off", closes).failed_rules) == {"R-036", "R-071"}
