"""The harness's words to a person in an editor, as Markdown.

Deliberately absent: when they are said (menu.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from acp_agent.harness.report import Run, told
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.verdict import Verdict
from acp_agent.protocol.rules import RULES

_MARKS: Final = {
    Verdict.PASS: "✅ **pass**",
    Verdict.FAIL: "❌ **FAIL**",
    Verdict.NOT_EXERCISED: "⚪ **not exercised**",
    Verdict.NOT_APPLICABLE: "➖ **not applicable**",
}
_LONGEST_SIGHT: Final = 300
_FAILURES_SHOWN: Final = 30
_RESTART: Final = "Start the agent again (a new thread; in some editors the agent has to be restarted)"


def commands(scenarios: Sequence[Scenario], latest: str = "") -> list[dict[str, Any]]:
    """The `/` menu, for available_commands_update. latest: what was found last, shown beside `/report`."""
    listed = [
        ("all", "Play all scenarios, those without a task for you first"),
        ("report", f"What was found so far{f'; last: {latest}' if latest else ''}"),
        ("stop", "Play nothing more of what is planned"),
    ]
    areas = dict.fromkeys(scenario.area for scenario in scenarios)
    listed += [(area, f"Play all scenarios of {area}") for area in areas]
    listed += [(scenario.command, scenario.title) for scenario in scenarios]
    return [{"name": name, "description": description} for name, description in listed]


def welcome(scenarios: Sequence[Scenario], directory: Path) -> str:
    """What the harness is, for who has sent something that is no command."""
    return (
        "I am a test of this client. Type `/` and choose one of "
        f"{len(scenarios)} scenarios, an area, or `/all`; then do what I ask you for. "
        f"`/report` tells what was found; the report is in `{directory}`.\n"
    )


def unknown(name: str, similar: Sequence[str]) -> str:
    """There is no such command."""
    hint = f" Did you mean {' or '.join(f'`/{one}`' for one in similar)}?" if similar else ""
    return f"There is no scenario `{name[:80]}`.{hint}\n"


def greeting(scenario: Scenario) -> str:
    """At the beginning of a scenario: what it is, and what the person has to do."""
    return f"**{scenario.id}**: {scenario.title}.\n\n👉 {scenario.ask}\n\n"


def verdict(result: ScenarioResult) -> str:
    """What came of a scenario: a line, and below it what is wrong."""
    mark, id_ = _MARKS[result.verdict], result.scenario.id
    if result.errors:
        return f"\n\n⚠️ `{id_}`: {'; '.join(result.errors)}. This is a fault of the harness.\n"
    held = sum(outcome.verdict is Verdict.PASS for outcome in result.outcomes)
    kept = f"{held} rule{'' if held == 1 else 's'} kept" if held else ""
    rest = kept if result.verdict is Verdict.PASS else result.reason
    lines = [f"\n\n{mark} `{id_}`{f': {rest}' if rest else ''}\n"]
    for outcome in result.outcomes:
        if outcome.verdict is Verdict.FAIL:
            rule = RULES[outcome.rule]
            lines.append(f"- **{rule.id}** ({rule.tier}) {rule.sentence}")
            check = told(outcome.checks)[0]
            if check.expected != rule.sentence:
                lines.append(f"  - expected: {check.expected}")
            lines.append(f"  - seen: {_code(check.saw)}")
    if result.verdict is Verdict.FAIL and result.scenario.user:
        lines.append(
            "\nIf you did something else than you were asked for, play it again: the last time counts."
        )
    return "\n".join(lines) + "\n"


def needs_start(scenario: Scenario, following: int) -> str:
    """This scenario begins with the agent's start."""
    more = f" {following} more wait after it." if following else ""
    return (
        f"\n\n`{scenario.id}` begins when the agent starts. {_RESTART}, then send any message.{more} "
        "`/stop` calls it off.\n"
    )


def goes_on(scenario: Scenario) -> str:
    """Between two scenarios that need a prompt each."""
    return f"\n\nSend any message to go on with `{scenario.id}`, or `/stop`.\n"


def busy(scenario: Scenario) -> str:
    """A prompt in another session while one is played."""
    return (
        f"`{scenario.id}` is being played in another session of this agent; finish it first, or `/stop` it.\n"
    )


def stopped(scenario: Scenario) -> str:
    """After /stop while a scenario is played."""
    return f"`{scenario.id}` is called off, and what was planned after it.\n"


def called_off(count: int) -> str:
    """After /stop."""
    return "Nothing was planned.\n" if not count else f"Called off: {count} that were planned.\n"


def overview(run: Run, page: Path) -> str:
    """The report in the chat: a table by area, the failures, and where the rest is."""
    if not run.results:
        return "Nothing has been played yet.\n"
    lines = ["| area | pass | fail | not exercised | not applicable |", "|---|--:|--:|--:|--:|"]
    for area, results in run.areas().items():
        counts = [sum(result.verdict is verdict for result in results) or "" for verdict in _MARKS]
        lines.append(f"| {area} | {' | '.join(map(str, counts))} |")
    failed = [result for result in run.results if result.verdict is Verdict.FAIL]
    lines.append("")
    for result in failed[:_FAILURES_SHOWN]:
        lines.append(f"- ❌ `{result.scenario.id}`: {', '.join(result.failed_rules)}")
    if len(failed) > _FAILURES_SHOWN:
        lines.append(f"- and {len(failed) - _FAILURES_SHOWN} more")
    played = f"{len(run.results)} of {run.available} scenarios were played"
    lines += ["", f"The client is **{run.summary.conclusion}**; {played}.", "", f"The whole report: `{page}`"]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """As code, whatever it holds."""
    shown = text if len(text) <= _LONGEST_SIGHT else f"{text[:_LONGEST_SIGHT]}..."
    fence = "`" * (max((len(run) for run in _ticks(shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{' '.join(shown.split())}{pad}{fence}"


def _ticks(text: str) -> list[str]:
    return ["`" * len(part) for part in "".join(c if c == "`" else " " for c in text).split()]
