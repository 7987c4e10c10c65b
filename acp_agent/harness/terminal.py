"""What a person reads in a terminal: the table of a run, lists, and single scenarios and rules.

Deliberately absent: files (report.py), and whether the terminal wants colours (commands.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final, TextIO

from acp_agent.harness.catalogue import all_scenarios, unexercised
from acp_agent.harness.report import Run, told
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.verdict import Check, Conclusion, RuleOutcome, Verdict
from acp_agent.printable import printable
from acp_agent.protocol.rules import RULES, Rule

_COLUMNS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.NOT_EXERCISED: "not exercised",
    Verdict.NOT_APPLICABLE: "not applicable",
}
_RED, _GREEN, _YELLOW, _BOLD = "31", "32", "33", "1"
_CHECKS_SHOWN: Final = 3
_LONGEST_SIGHT: Final = 240
_NARROWEST_TITLE: Final = 50


class Screen:
    """Where the text goes. width: columns. colours: whether to use any."""

    def __init__(self, out: TextIO, *, width: int = 80, colours: bool = False) -> None:
        self._out = out
        self.width = max(40, min(width, 110))
        self._colours = colours

    def line(self, text: str = "") -> None:
        """One line as it is."""
        print(text, file=self._out)

    def wrapped(self, text: str, first: str = "", rest: str | None = None) -> None:
        """A paragraph. first: what its first line begins with; rest: the others, by default as far in."""
        rest = " " * len(first) if rest is None else rest
        lines = textwrap.wrap(
            text, self.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
        for line in lines or [first.rstrip()]:
            self.line(line)

    def paint(self, text: str, code: str) -> str:
        """The text in a colour, or as it is."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text


# -- A run


def print_run(run: Run, screen: Screen) -> None:
    """The table by area, what went wrong under it, and the conclusion last."""
    _print_table(run, screen)
    for result in run.results:
        _print_failure(result, screen)
    _print_not_looked_at(run, screen)
    for result in run.results:
        for error in result.errors:
            screen.line()
            screen.wrapped(f"{result.scenario.id}: {error}. This is a fault of the harness.")
    _print_conclusion(run, screen)


def _print_table(run: Run, screen: Screen) -> None:
    areas = run.areas()
    longest = max((len(area) for area in areas), default=5)
    screen.line(f"{'':<{longest}}  {'  '.join(_COLUMNS.values())}")
    for area, results in (*areas.items(), ("total", list(run.results))):
        cells = []
        for verdict, heading in _COLUMNS.items():
            number = sum(result.verdict is verdict for result in results)
            cell = f"{number or '-':>{len(heading)}}"
            cells.append(screen.paint(cell, _RED) if verdict is Verdict.FAIL and number else cell)
        screen.line(f"{area:<{longest}}  {'  '.join(cells)}")


def _print_failure(result: ScenarioResult, screen: Screen) -> None:
    failed = [outcome for outcome in result.outcomes if outcome.verdict is Verdict.FAIL]
    if not failed:
        return
    decides = any(RULES[outcome.rule].tier.decides for outcome in failed)
    heading = "FAIL" if decides else "advice" if result.verdict is Verdict.FAIL else "note"
    screen.line()
    painted = screen.paint(heading, _RED if decides else _YELLOW)
    screen.line(f"{painted} {screen.paint(result.scenario.id, _BOLD)}")
    screen.wrapped(result.scenario.title, "  ")
    for outcome in failed:
        _print_outcome(outcome, screen)


def _print_outcome(outcome: RuleOutcome, screen: Screen) -> None:
    rule = RULES[outcome.rule]
    screen.wrapped(f"{rule.id} {rule.tier}: {rule.sentence}", "  ", "      ")
    failed = [check for check in told(outcome.checks) if not check.ok]
    for check in failed[:_CHECKS_SHOWN]:
        _print_check(check, rule, screen)
    more = sum(not check.ok for check in outcome.checks) - _CHECKS_SHOWN
    if more > 0:
        screen.line(f"      and {more} more like it")


def _print_check(check: Check, rule: Rule, screen: Screen) -> None:
    if check.expected != rule.sentence:
        screen.wrapped(check.expected, "      expected  ")
    saw = check.saw if len(check.saw) <= _LONGEST_SIGHT else f"{check.saw[:_LONGEST_SIGHT]}..."
    screen.wrapped(printable(saw), "      saw       ")


def _print_not_looked_at(run: Run, screen: Screen) -> None:
    for verdict in (Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE):
        reasons: dict[str, list[str]] = {}
        for result in run.results:
            if result.verdict is verdict and not result.errors:
                reasons.setdefault(result.reason, []).append(result.scenario.id)
        for reason, scenarios in reasons.items():
            screen.line()
            screen.wrapped(f"{verdict}: {printable(reason)}")
            screen.wrapped(", ".join(scenarios), "  ")


def _print_conclusion(run: Run, screen: Screen) -> None:
    summary = run.summary
    colour = {Conclusion.CONFORMANT: _GREEN, Conclusion.NOT_CONFORMANT: _RED}.get(summary.conclusion, _YELLOW)
    screen.line()
    for label, rules in (
        ("Broken", summary.broken),
        ("Advice not followed", summary.advice),
        ("MUST, never exercised", summary.unproven),
    ):
        if rules:
            screen.wrapped(", ".join(rules), f"{label}: ", "  ")
    chosen = f" Of {run.available} scenarios {len(run.results)} were played." if run.is_selection else ""
    screen.line(screen.paint(f"The client is {summary.conclusion}.", colour) + chosen)


# -- Lists


def print_list(scenarios: Iterable[Scenario], screen: Screen) -> None:
    """Each area with its scenarios; the titles beside the ids, or below them where that is too narrow."""
    found = list(scenarios)
    column = max((len(scenario.id) for scenario in found), default=0) + 4
    beside = screen.width - column >= _NARROWEST_TITLE
    area = ""
    for scenario in found:
        if scenario.area != area:
            if area:
                screen.line()
            area = scenario.area
            screen.line(screen.paint(area, _BOLD))
        if beside:
            screen.wrapped(scenario.title, f"  {scenario.id}".ljust(column))
        else:
            screen.line(f"  {scenario.id}")
            screen.wrapped(scenario.title, "      ")


def print_scenario(scenario: Scenario, screen: Screen) -> None:
    """All that is known of a scenario before it is played."""
    screen.line(screen.paint(scenario.id, _BOLD))
    screen.wrapped(f"{scenario.title}.", "  ")
    screen.wrapped(scenario.ask, "  The user   ")
    if scenario.needs:
        screen.wrapped(f"the client must advertise {', '.join(scenario.needs)}", "  Needs      ")
    screen.line(f"  Menu       /{scenario.command}")
    screen.wrapped(f"at most {scenario.deadline_s:g} s for a driven client", "  Deadline   ")
    screen.line("  Rules")
    for id_ in scenario.rules:
        _print_named_rule(RULES[id_], screen, "")
    for id_ in scenario.display_rules:
        _print_named_rule(RULES[id_], screen, " (judged by the display record)")


def _print_named_rule(rule: Rule, screen: Screen, remark: str) -> None:
    screen.wrapped(f"{rule.id} {rule.tier}: {rule.sentence}{remark}", "    ", "        ")


def print_rule(id_: str, screen: Screen) -> bool:
    """A rule and the scenarios that exercise it; False if there is no such rule."""
    if id_ not in RULES:
        return False
    rule = RULES[id_]
    binds = {"client": "clients", "agent": "agents"}.get(rule.side, "clients and agents")
    screen.line(f"{screen.paint(rule.id, _BOLD)} {rule.tier}, binds {binds}, from {rule.page}")
    screen.wrapped(rule.sentence, "  ")
    there = [scenario for scenario in all_scenarios() if id_ in scenario.all_rules]
    if not there:
        screen.wrapped(
            f"No scenario exercises it. {unexercised().get(id_, 'It does not bind clients.')}", "  "
        )
        return True
    screen.line("  Exercised by")
    for scenario in there:
        screen.line(f"    {scenario.id}")
        screen.wrapped(scenario.title, "        ")
    return True
