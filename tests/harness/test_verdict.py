"""How checks become verdicts: evidence is needed, a failure wins, and what was never looked at is said."""

from __future__ import annotations

import pytest

from acp_agent.harness.verdict import (
    Check,
    Conclusion,
    RuleOutcome,
    Verdict,
    judge_rules,
    judge_scenario,
    summarise,
)

MUST, SHOULD, INFO = "R-154", "R-029", "R-316"


def check(rule: str, ok: bool) -> Check:
    return Check(rule, ok, "this", "that")


def verdicts(outcomes: list[RuleOutcome]) -> dict[str, Verdict]:
    return {outcome.rule: outcome.verdict for outcome in outcomes}


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([], Verdict.NOT_EXERCISED),
        ([True], Verdict.PASS),
        ([False], Verdict.FAIL),
        ([True, False, True], Verdict.FAIL),
    ],
)
def test_a_pass_needs_a_check_and_one_failure_is_enough(checks: list[bool], verdict: Verdict) -> None:
    """Pass needs evidence."""
    outcomes = judge_rules([MUST], [check(MUST, ok) for ok in checks], reason="nobody pressed Stop")
    assert verdicts(outcomes) == {MUST: verdict}
    assert outcomes[0].reason == ("nobody pressed Stop" if verdict is Verdict.NOT_EXERCISED else "")


def test_what_the_observer_finds_counts_though_nobody_looked_for_it() -> None:
    """Everything the client sends is judged in every scenario."""
    outcomes = judge_rules([SHOULD], [check(SHOULD, True), check("R-249", False)], reason="")
    assert verdicts(outcomes) == {SHOULD: Verdict.PASS, "R-249": Verdict.FAIL}
    assert judge_scenario(outcomes, [SHOULD], applicable=True)[0] is Verdict.FAIL


def test_a_scenario_passes_only_if_each_of_its_rules_has() -> None:
    """A rule without a check keeps it from passing, with that rule's reason."""
    outcomes = judge_rules([MUST, SHOULD], [check(MUST, True)], reason="lost race")
    assert judge_scenario(outcomes, [MUST, SHOULD], applicable=True) == (Verdict.NOT_EXERCISED, "lost race")
    assert judge_scenario(outcomes, [MUST], applicable=True) == (Verdict.PASS, "")


def test_without_the_capability_a_scenario_is_not_applicable() -> None:
    """But a rule that is broken is broken."""
    outcomes = judge_rules([MUST], [], reason="no terminals", applicable=False)
    assert judge_scenario(outcomes, [MUST], applicable=False) == (Verdict.NOT_APPLICABLE, "no terminals")
    broken = judge_rules([MUST], [check("R-249", False)], reason="no terminals", applicable=False)
    assert judge_scenario(broken, [MUST], applicable=False)[0] is Verdict.FAIL


def test_an_info_is_noted_and_fails_no_scenario() -> None:
    """R-316 is worth knowing; nobody is blamed for it."""
    outcomes = judge_rules([MUST], [check(MUST, True), check(INFO, False)], reason="")
    assert verdicts(outcomes)[INFO] is Verdict.FAIL
    assert judge_scenario(outcomes, [MUST], applicable=True)[0] is Verdict.PASS


@pytest.mark.parametrize(
    ("found", "conclusion"),
    [
        ([(MUST, Verdict.PASS), (SHOULD, Verdict.FAIL)], Conclusion.CONFORMANT),
        ([(MUST, Verdict.FAIL), (MUST, Verdict.PASS)], Conclusion.NOT_CONFORMANT),
        ([(MUST, Verdict.NOT_EXERCISED), (MUST, Verdict.PASS)], Conclusion.CONFORMANT),
        ([(MUST, Verdict.NOT_EXERCISED), (SHOULD, Verdict.PASS)], Conclusion.NOT_PROVEN),
        ([("R-216", Verdict.NOT_APPLICABLE), (MUST, Verdict.PASS)], Conclusion.CONFORMANT),
        ([], Conclusion.NOT_PROVEN),
    ],
)
def test_a_must_that_was_never_exercised_keeps_a_client_from_being_called_conformant(
    found: list[tuple[str, Verdict]], conclusion: Conclusion
) -> None:
    """Over a run a failure wins, then evidence, then what was not exercised."""
    summary = summarise(RuleOutcome(rule, verdict, "") for rule, verdict in found)
    assert summary.conclusion is conclusion
