"""How a scenario is judged: checks become a verdict a rule, rules a verdict a scenario, scenarios a conclusion.

A rule passes only by a check that held and fails by any that did not; without one it was not exercised, and the reason
says why. How a connection ended is never taken for what was said on it: both are checks of their own.
Deliberately absent: making checks (stage.py, observer.py, aftermath.py) and showing the result (report.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from acp_agent.protocol.rules import RULES, Tier


class Verdict(StrEnum):
    """What can be said of a rule, or of a scenario."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_EXERCISED = "not exercised"
    NOT_APPLICABLE = "not applicable"


class Origin(StrEnum):
    """Who made a check: the scenario's script, the observer of everything that is sent, or the look back."""

    SCRIPT = "script"
    OBSERVER = "observer"
    AFTERMATH = "aftermath"


class Check(NamedTuple):
    """One look at one rule. expected, saw: whole phrases for a person. at: the transcript entry it is about, or -1.

    life: which process of the agent saw it, counted from 1.
    """

    rule: str
    ok: bool
    expected: str
    saw: str
    at: int = -1
    origin: Origin = Origin.SCRIPT
    life: int = 1


class Remark(NamedTuple):
    """Worth telling, held against nobody: a warning, or what may be explained by messages that crossed."""

    sentence: str
    at: int = -1
    life: int = 1


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What a scenario found about one rule. reason: why it was not exercised or is not applicable."""

    rule: str
    verdict: Verdict
    reason: str
    checks: tuple[Check, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether a failure of it fails its scenario: an INFO is only noted."""
        return RULES[self.rule].tier is not Tier.INFO


def judge_rules(
    named: Sequence[str],
    checks: Iterable[Check],
    *,
    reason: str,
    reasons: dict[str, str] | None = None,
    applicable: bool = True,
) -> list[RuleOutcome]:
    """The outcome of each rule: those the scenario names, then those the observer found broken beside them.

    reason: why a named rule without a check was not exercised, or does not apply; reasons: the same for single rules.
    applicable: False when the client does not offer what the scenario needs. A broken rule is one all the same.
    """
    by_rule: dict[str, list[Check]] = {rule: [] for rule in named}
    for check in checks:
        by_rule.setdefault(check.rule, []).append(check)
    outcomes = []
    for rule, found in by_rule.items():
        if any(not check.ok for check in found):
            verdict, why = Verdict.FAIL, ""
        elif found:
            verdict, why = Verdict.PASS, ""
        else:
            verdict = Verdict.NOT_EXERCISED if applicable else Verdict.NOT_APPLICABLE
            why = (reasons or {}).get(rule, reason)
        outcomes.append(RuleOutcome(rule, verdict, why, tuple(found)))
    return outcomes


def judge_scenario(
    outcomes: Iterable[RuleOutcome], wanted: Sequence[str], *, applicable: bool
) -> tuple[Verdict, str]:
    """The verdict of a scenario and, if it is neither PASS nor FAIL, the reason.

    wanted: the rules that a PASS needs evidence for.
    """
    found = {outcome.rule: outcome for outcome in outcomes}
    if any(outcome.verdict is Verdict.FAIL and outcome.counts for outcome in found.values()):
        return Verdict.FAIL, ""
    missing = [found[rule] for rule in wanted if found[rule].verdict is Verdict.NOT_EXERCISED]
    if not applicable:
        return Verdict.NOT_APPLICABLE, next((found[rule].reason for rule in wanted), "")
    if missing:
        return Verdict.NOT_EXERCISED, missing[0].reason
    return Verdict.PASS, ""


class Conclusion(StrEnum):
    """What a whole run says of a client."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not conformant"
    NOT_PROVEN = "not shown to be conformant"


@dataclass(frozen=True, slots=True)
class Summary:
    """The rules over all scenarios of a run.

    verdicts: of each rule that a scenario named or found broken. broken: the MUST and CAPABILITY rules that failed.
    advice: the other rules that failed. unproven: the rules of tier MUST that were never exercised.
    """

    verdicts: dict[str, Verdict]
    broken: tuple[str, ...]
    advice: tuple[str, ...]
    unproven: tuple[str, ...]

    @property
    def conclusion(self) -> Conclusion:
        """Conformant needs every MUST to have been exercised, and nothing that decides to have failed."""
        if self.broken:
            return Conclusion.NOT_CONFORMANT
        return Conclusion.NOT_PROVEN if self.unproven or not self.verdicts else Conclusion.CONFORMANT


def summarise(outcomes: Iterable[RuleOutcome]) -> Summary:
    """Join the outcomes of many scenarios: a failure wins, then evidence, then what was not exercised."""
    ranks = (Verdict.NOT_APPLICABLE, Verdict.NOT_EXERCISED, Verdict.PASS, Verdict.FAIL)
    verdicts: dict[str, Verdict] = {}
    for outcome in outcomes:
        before = verdicts.get(outcome.rule, Verdict.NOT_APPLICABLE)
        verdicts[outcome.rule] = max(before, outcome.verdict, key=ranks.index)
    verdicts = dict(sorted(verdicts.items()))
    failed = [rule for rule, verdict in verdicts.items() if verdict is Verdict.FAIL]
    return Summary(
        verdicts,
        broken=tuple(rule for rule in failed if RULES[rule].tier.decides),
        advice=tuple(rule for rule in failed if not RULES[rule].tier.decides),
        unproven=tuple(
            rule
            for rule, verdict in verdicts.items()
            if verdict is Verdict.NOT_EXERCISED and RULES[rule].tier is Tier.MUST
        ),
    )
