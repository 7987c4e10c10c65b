"""What a person reads in a terminal: the table of a run, lists, and single scenarios and rules.

Deliberately absent: files (report.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.verdict import Verdict, summarise
from acp_agent.protocol.rules import RULES

_MARKS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.NOT_EXERCISED: "not exercised",
    Verdict.NOT_APPLICABLE: "not applicable",
}


def print_run(results: Sequence[ScenarioResult], out: TextIO, *, width: int = 80) -> None:
    """The table by area, the failures under it, and the conclusion last."""
    areas: dict[str, list[ScenarioResult]] = {}
    for result in results:
        areas.setdefault(result.scenario.area, []).append(result)
    longest = max((len(area) for area in areas), default=4)
    print(f"{'area':<{longest}}  pass  FAIL  not exercised  not applicable", file=out)
    for area, found in areas.items():
        counts = [sum(result.verdict is verdict for result in found) for verdict in _MARKS]
        row = f"{counts[0]:>4}  {counts[1]:>4}  {counts[2]:>13}  {counts[3]:>14}"
        print(f"{area:<{longest}}  {row}", file=out)
    for result in results:
        _print_unusual(result, out, width)
    _print_conclusion(results, out, width)


def _print_unusual(result: ScenarioResult, out: TextIO, width: int) -> None:
    if result.verdict is Verdict.NOT_EXERCISED:
        print(f"\n{result.scenario.id}: not exercised: {result.reason}", file=out)
    for error in result.errors:
        print(f"\n{result.scenario.id}: {error}; this is a fault of the harness", file=out)
    failed = [outcome for outcome in result.outcomes if outcome.verdict is Verdict.FAIL]
    if not failed:
        return
    heading = "FAIL" if result.verdict is Verdict.FAIL else "note"
    print(f"\n{heading} {result.scenario.id}: {result.scenario.title}", file=out)
    for outcome in failed:
        rule = RULES[outcome.rule]
        _print_wrapped(f"{rule.id} ({rule.tier}) {rule.sentence}", out, width, "  ")
        for check in [check for check in outcome.checks if not check.ok][:3]:
            _print_wrapped(f"expected: {check.expected}", out, width, "    ")
            _print_wrapped(f"saw:      {check.saw}", out, width, "    ")


def _print_conclusion(results: Sequence[ScenarioResult], out: TextIO, width: int) -> None:
    summary = summarise(outcome for result in results for outcome in result.outcomes)
    print(file=out)
    print(f"The client is {summary.conclusion}.", file=out)
    for label, rules in (
        ("Broken", summary.broken),
        ("Advice not followed", summary.advice),
        ("MUST rules never exercised", summary.unproven),
    ):
        if rules:
            _print_wrapped(f"{label}: {', '.join(rules)}", out, width, "")


def print_list(scenarios: Iterable[Scenario], out: TextIO) -> None:
    """A line a scenario."""
    for scenario in scenarios:
        print(f"{scenario.id:<40}  {scenario.title}", file=out)


def print_scenario(scenario: Scenario, out: TextIO) -> None:
    """All that is known of a scenario before it is played."""
    print(f"{scenario.id}: {scenario.title}", file=out)
    print(f"  what the user does: {scenario.ask}", file=out)
    if scenario.needs:
        print(f"  the client must advertise: {', '.join(scenario.needs)}", file=out)
    for id_ in scenario.rules:
        print(f"  {id_} ({RULES[id_].tier}) {RULES[id_].sentence}", file=out)
    for id_ in scenario.display_rules:
        print(f"  {id_} ({RULES[id_].tier}, by the display record) {RULES[id_].sentence}", file=out)


def print_rule(id_: str, out: TextIO) -> bool:
    """A rule and the scenarios that exercise it; False if there is no such rule."""
    if id_ not in RULES:
        return False
    rule = RULES[id_]
    print(f"{rule.id} ({rule.tier}, binds {rule.side}, from {rule.page}): {rule.sentence}", file=out)
    for scenario in all_scenarios():
        if id_ in scenario.all_rules:
            print(f"  {scenario.id}: {scenario.title}", file=out)
    return True


def _print_wrapped(text: str, out: TextIO, width: int, indent: str) -> None:
    for line in textwrap.wrap(text, max(40, width), initial_indent=indent, subsequent_indent=f"{indent}  "):
        print(line, file=out)
