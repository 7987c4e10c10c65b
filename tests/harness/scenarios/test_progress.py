"""Plans, usage and titles: a client that joins updates, or does not show some, is right."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict


def shows_plans(choose: Any) -> Any:
    """A script of a client whose record has the plans that choose(plans) gives."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        plans = [update["entries"] for update in puppet.updates if update["sessionUpdate"] == "plan"]
        for entries in choose(plans):
            puppet.show("plan", entries=entries)

    return script


@pytest.mark.parametrize(
    ("choose", "verdict"),
    [
        (lambda plans: plans, Verdict.PASS),
        (lambda plans: plans[-1:], Verdict.PASS),
        (lambda plans: [plan for plan in plans if plan], Verdict.PASS),
        (lambda plans: [], Verdict.NOT_EXERCISED),
        (lambda plans: plans[:-1], Verdict.FAIL),
        (lambda plans: [plans[0], plans[0] + plans[1], *plans[2:]], Verdict.FAIL),
    ],
    ids=["all", "the last one", "none that is empty", "none at all", "not the last", "one and a half"],
)
def test_each_plan_that_is_shown_stands_alone(play: Any, choose: Any, verdict: Verdict) -> None:
    """R-200: a plan replaces the one before; how often the screen is painted is the client's affair."""
    result = play("plans/replaced", shows_plans(choose), records=True)
    assert [outcome.verdict for outcome in result.outcomes if outcome.rule == "R-200"] == [verdict]


@pytest.mark.parametrize(
    "scenario", ["usage/all-forms", "info/title-set-and-cleared", "plans/unknown-values"]
)
def test_a_client_that_shows_text_only_passes(play: Any, scenario: str) -> None:
    """What is shown nowhere is not lost."""

    async def text_only(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(scenario, text_only, records=True)
    assert (result.failed_rules, result.verdict) == ((), Verdict.PASS)


def test_the_second_prompt_decides_about_message_ids(play: Any) -> None:
    """R-143 needs one that comes after messages with ids."""

    async def once(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    assert play("messages/with-ids", once).verdict is Verdict.NOT_EXERCISED
