"""Modes and options: who sets nothing is not judged, and spellings that are allowed are no faults."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.catalogue import select
from acp_agent.harness.verdict import Verdict

SETTING = [scenario.id for scenario in select(["modes", "config"]) if scenario.user]


@pytest.mark.parametrize("scenario", SETTING)
def test_a_client_that_sets_nothing_is_not_to_blame(play: Any, scenario: str) -> None:
    """Its user did not want to, or it has no place for it."""

    async def sets_nothing(puppet: Any) -> None:
        await puppet.hello(session={"configOptions": {"boolean": {}}})
        await puppet.open()
        await puppet.prompt()

    assert play(scenario, sets_nothing).failed_rules == ()


def test_switches_are_not_offered_to_a_client_without_them(play: Any) -> None:
    """R-113 forbids it: not applicable."""

    async def plain(puppet: Any) -> None:
        await puppet.hello()
        assert "configOptions" not in (await puppet.open())["result"]
        await puppet.prompt()

    assert play("config/set-a-switch", plain).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("extra", [{}, {"type": "id"}, {"_meta": None}])
def test_a_select_may_be_set_with_a_type_or_without(play: Any, extra: dict[str, Any]) -> None:
    """The sources disagree about it, so both are right."""

    async def sets(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        params = {"sessionId": puppet.session, "configId": "model", "value": "large", **extra}
        await puppet.call("session/set_config_option", params)
        await puppet.prompt()

    assert play("config/set-without-notification", sets).verdict is Verdict.PASS


def test_another_mode_than_the_plan_says_is_a_mode_too(play: Any) -> None:
    """A person may choose what is already chosen."""

    async def sets(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.call("session/set_mode", {"sessionId": puppet.session, "modeId": "ask"})
        await puppet.prompt()

    assert play("modes/set-without-notification", sets).verdict is Verdict.PASS


def test_a_client_that_knows_modes_only_is_advised_to_use_options(play: Any) -> None:
    """R-110 is no MUST."""

    async def sets(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.call("session/set_mode", {"sessionId": puppet.session, "modeId": "code"})
        await puppet.prompt()

    assert play("config/options-before-modes", sets).failed_rules == ("R-110",)


def test_a_client_may_leave_an_unknown_mode_out(play: Any) -> None:
    """What is judged is whether it still shows the next one."""

    async def careful(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        for update in puppet.updates:
            if update.get("currentModeId") in {"ask", "code"}:
                puppet.show("current_mode_update", update=update)

    result = play("modes/changed-by-the-agent", careful, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []
