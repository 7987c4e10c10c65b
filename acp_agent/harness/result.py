"""The result of one scenario: what all parts have seen, how the client ended, and the verdict from both.

Deliberately absent: writing it (report.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acp_agent.harness.aftermath import NO_DISPLAY, Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.part import FIRST_PROMPT, Part, has_begun
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.verdict import Check, Origin, Remark, RuleOutcome, Verdict, judge_rules, judge_scenario
from acp_agent.protocol.rules import RULES

NEVER_STARTED = "the client never started the agent"


@dataclass(frozen=True, slots=True)
class ClientExit:
    """How the client's process ended. exit_code: None if it is not known, or it hung. output: the end of what it wrote.

    hung: it had to be ended. cut_off: and an agent of its was still running then, so that its hanging proves nothing.
    duration_s: from its start to its end.
    """

    exit_code: int | None = None
    hung: bool = False
    output: str = ""
    duration_s: float = 0.0
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One scenario, judged. reason: why it is neither PASS nor FAIL. errors: what is wrong with the harness itself."""

    scenario: Scenario
    verdict: Verdict
    reason: str
    outcomes: tuple[RuleOutcome, ...]
    remarks: tuple[Remark, ...]
    errors: tuple[str, ...]
    exit: ClientExit
    parts: tuple[Part, ...]

    @property
    def failed_rules(self) -> tuple[str, ...]:
        """The rules that it found broken, INFO ones too."""
        return tuple(outcome.rule for outcome in self.outcomes if outcome.verdict is Verdict.FAIL)

    @property
    def client(self) -> dict[str, Any] | None:
        """What the client calls itself."""
        return next((part.client for part in self.parts if part.client), None)


def explain(result: ScenarioResult) -> str:
    """A result as lines of text: the verdict, and each broken rule with what was expected and what was seen."""
    lines = [f"{result.scenario.id}: {result.verdict}{f': {result.reason}' if result.reason else ''}"]
    lines += [f"{error} (a fault of the harness)" for error in result.errors]
    for outcome in result.outcomes:
        failed = [check for check in outcome.checks if not check.ok]
        if failed:
            rule = RULES[outcome.rule]
            lines.append(f"  {rule.id} {rule.tier}: {rule.sentence}")
            for check in failed[:3]:
                lines += [f"    expected: {check.expected}", f"    saw: {check.saw}"]
    if result.exit.output and result.verdict is not Verdict.PASS:
        lines += ["  the client wrote:", result.exit.output.rstrip()]
    return "\n".join(lines)


def judge(
    scenario: Scenario, parts: Sequence[Part], ending: ClientExit, display: Display | None
) -> ScenarioResult:
    """Put together what is known and judge it. parts: by life; none if the agent was never started."""
    if ending.cut_off:
        # It was in the middle of something: what it did not show yet it might have shown.
        display = None
    checks = [check for part in parts for check in part.checks]
    remarks = [remark for part in parts for remark in part.remarks]
    errors = [part.error for part in parts if part.error]
    played = [part for part in parts if part.begun] or list(parts[-1:])
    applicable = all(part.applicable for part in played)
    reason = played[0].reason if played else NEVER_STARTED
    reasons = dict.fromkeys(scenario.display_rules, NO_DISPLAY) if display is None else {}
    for part in parts:
        reasons |= part.reasons
    if applicable and scenario.aftermath is not None and any(part.begun for part in parts):
        looked = _look_back(scenario, parts, ending, display)
        checks += looked.checks
        reasons |= looked.reasons
    if parts and not has_begun(parts):
        checks += _deserted(parts[-1])
    if ending.hung and not ending.cut_off:
        checks += _hanging(parts)
    if errors:
        # What a script that broke down says of the client may be our own doing; what the observer read is not.
        checks = [check for check in checks if check.ok or check.origin is Origin.OBSERVER]
    outcomes = judge_rules(scenario.all_rules, checks, reason=reason, reasons=reasons, applicable=applicable)
    # A rule that only the display can show does not keep a scenario from passing; one of the wire does.
    wanted = scenario.rules or scenario.display_rules
    verdict, why = judge_scenario(outcomes, wanted, applicable=applicable)
    return ScenarioResult(
        scenario, verdict, why, tuple(outcomes), tuple(remarks), tuple(errors), ending, tuple(parts)
    )


def _look_back(
    scenario: Scenario, parts: Sequence[Part], ending: ClientExit, display: Display | None
) -> Aftermath:
    notes: dict[str, Any] = {}
    for part in parts:
        notes |= part.notes
    looked = Aftermath(
        scenario.all_rules,
        notes=notes,
        exit_code=ending.exit_code,
        hung=ending.hung and not ending.cut_off,
        display=display,
        lives=len(parts),
    )
    if scenario.aftermath is not None:
        scenario.aftermath(looked)
    return looked


def _deserted(part: Part) -> list[Check]:
    """The client has left before there was anything to play, and has not come back."""
    at = part.transcript[-1].number if part.transcript else -1
    saw = "it closed the connection"
    return [Check(rule, False, FIRST_PROMPT, saw, at, life=part.life) for rule in part.deserted]


def _hanging(parts: Sequence[Part]) -> list[Check]:
    """R-301: when a client had to be ended, the agent was long gone. One that never started an agent proves nothing."""
    if not parts:
        return []
    saw = "the client was still there long after the agent had ended, and had to be ended"
    return [Check("R-301", False, RULES["R-301"].sentence, saw, origin=Origin.AFTERMATH)]
