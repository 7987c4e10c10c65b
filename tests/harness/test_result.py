"""A result joins what all processes of the agent saw with how the client ended; what neither proves is not said."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.aftermath import NO_DISPLAY, Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.part import FIRST_PROMPT, Part
from acp_agent.harness.result import NEVER_STARTED, ClientExit, explain, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.verdict import Check, Origin, Verdict

RULE, SHOWN = "R-016", "R-308"


async def _nothing(stage: Stage) -> None: ...


def shows(after: Aftermath) -> None:
    """Blames a client whose record has nothing."""
    display = after.display(SHOWN)
    if display is not None:
        after.check(SHOWN, bool(display.of("message")), "a message", "none")


def scenario(**members: Any) -> Scenario:
    return Scenario("area/name", "A situation", (RULE,), _nothing, **members)


def part(life: int = 1, *checks: Check, **members: Any) -> Part:
    return Part("area/name", life, **{"begun": True, "over": True, "checks": list(checks), **members})


GOOD, BAD = Check(RULE, True, "this", "that"), Check(RULE, False, "this", "that", 3)


def test_one_broken_check_in_any_life_breaks_the_rule() -> None:
    """However often it was kept."""
    result = judge(scenario(), [part(1, GOOD), part(2, GOOD, BAD)], ClientExit(0), None)
    assert (result.verdict, result.failed_rules) == (Verdict.FAIL, (RULE,))
    text = explain(result)
    assert "    expected: this\n    saw: that" in text


def test_a_pass_needs_a_check_and_a_start() -> None:
    """Otherwise the reason is that of the life that was played, or that there was none."""
    assert judge(scenario(), [part(1, GOOD)], ClientExit(0), None).verdict is Verdict.PASS
    looked, used = part(1, begun=False, reason="only looked"), part(2, reason="nobody pressed Stop")
    result = judge(scenario(), [looked, used], ClientExit(0), None)
    assert (result.verdict, result.reason) == (Verdict.NOT_EXERCISED, "nobody pressed Stop")
    assert judge(scenario(), [], ClientExit(3), None).reason == NEVER_STARTED


def test_a_client_that_lacks_what_is_needed_is_not_judged() -> None:
    """Nor looked back at."""
    lacking = part(1, applicable=False, reason="no terminals")
    result = judge(scenario(display_rules=(SHOWN,), aftermath=shows), [lacking], ClientExit(0), Display(()))
    assert (result.verdict, result.reason, result.failed_rules) == (
        Verdict.NOT_APPLICABLE,
        "no terminals",
        (),
    )


@pytest.mark.parametrize(
    ("ending", "failed"),
    [
        (ClientExit(None, hung=True), ("R-301",)),
        (ClientExit(None, hung=True, cut_off=True), ()),
        (ClientExit(1), ()),
    ],
    ids=["hangs", "ended while its agent ran", "ends"],
)
def test_hanging_breaks_a_rule_if_no_agent_was_left_to_wait_for(
    ending: ClientExit, failed: tuple[str, ...]
) -> None:
    """R-301: a machine that is too slow for the scenario is no fault of the client."""
    assert judge(scenario(), [part(1, GOOD)], ending, None).failed_rules == failed
    assert judge(scenario(), [], ending, None).failed_rules == ()


@pytest.mark.parametrize(
    ("ending", "failed"), [(ClientExit(0), (SHOWN,)), (ClientExit(None, hung=True, cut_off=True), ())]
)
def test_what_a_client_had_no_time_to_show_is_not_missed(ending: ClientExit, failed: tuple[str, ...]) -> None:
    """Its record stops in the middle."""
    judged = scenario(display_rules=(SHOWN,), aftermath=shows)
    result = judge(judged, [part(1, GOOD)], ending, Display(({"kind": "user"},)))
    assert result.failed_rules == failed
    reasons = [outcome.reason for outcome in result.outcomes if outcome.rule == SHOWN]
    assert reasons == ["" if failed else NO_DISPLAY]


def test_who_leaves_before_the_beginning_has_deserted_unless_it_comes_back() -> None:
    """The rule that it could not be tried for is broken."""
    left = part(1, begun=False, deserted=["R-303"])
    result = judge(scenario(survives=("R-303",)), [left], ClientExit(0), None)
    assert result.failed_rules == ("R-303",)
    assert [check.expected for check in result.outcomes[-1].checks] == [FIRST_PROMPT]
    assert judge(scenario(survives=("R-303",)), [left, part(2, GOOD)], ClientExit(0), None).failed_rules == ()


def test_a_fault_of_the_harness_takes_back_what_its_script_said() -> None:
    """What the observer read was sent all the same."""
    seen = Check("R-004", False, "one line", "two", 5, Origin.OBSERVER)
    result = judge(scenario(), [part(1, BAD, seen, error="the harness failed")], ClientExit(0), None)
    assert (result.errors, result.failed_rules) == (("the harness failed",), ("R-004",))
    assert "a fault of the harness" in explain(result)
