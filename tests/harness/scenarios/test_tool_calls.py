"""Tool calls: what a record has to tell before it is judged, and what is judged then."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.catalogue import select
from acp_agent.harness.verdict import Verdict

EVERY = [scenario.id for scenario in select(["tools"])]


def client(merge: Any) -> Any:
    """A script of a client that shows tool calls, with `call` as merge(calls, update) makes it, if it makes any."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        turn = await puppet.prompt()
        assert turn["result"]["stopReason"] == "end_turn"
        calls: dict[str, Any] = {}
        for update in puppet.updates:
            if "toolCallId" in update:
                call = merge(calls, update)
                extra = {} if call is None else {"call": dict(call)}
                puppet.show(update["sessionUpdate"], update=update, **extra)

    return script


def well(calls: dict[str, Any], update: dict[str, Any]) -> dict[str, Any]:
    """As a client should: null and absent leave a member alone, a list replaces a list."""
    call: dict[str, Any] = calls.setdefault(update["toolCallId"], {})
    call.update({name: value for name, value in update.items() if value is not None})
    return call


@pytest.mark.parametrize("scenario", EVERY)
def test_a_client_that_shows_no_states_passes(play: Any, scenario: str) -> None:
    """Updates as they came do not tell what stands on the screen: the rule is not exercised, nothing fails."""
    result = play(scenario, client(lambda calls, update: None), records=True)
    assert (result.failed_rules, result.verdict) == ((), Verdict.PASS)


@pytest.mark.parametrize("scenario", EVERY)
def test_a_client_that_merges_well_passes(play: Any, scenario: str) -> None:
    """Every rule has evidence then."""
    result = play(scenario, client(well), records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


def test_content_that_is_kept_from_before_is_found(play: Any) -> None:
    """R-187, by the content and by the locations."""

    def first_wins(calls: dict[str, Any], update: dict[str, Any]) -> dict[str, Any]:
        call: dict[str, Any] = calls.setdefault(update["toolCallId"], {})
        for name, value in update.items():
            if name not in {"content", "locations"} or name not in call:
                call[name] = value
        return call

    result = play("tools/content-replaced", client(first_wins), records=True)
    (broken,) = [outcome for outcome in result.outcomes if outcome.verdict is Verdict.FAIL]
    assert (broken.rule, len(broken.checks)) == ("R-187", 2)
