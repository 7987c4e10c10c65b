"""A whole run as files: report.json, junit.xml and report.html in one directory, beside the trace of each scenario.

Owns the form of report.json (schemas/harness-report.json) and which messages of a long connection are worth keeping.
Deliberately absent: the layout of the other two (junit.py, page.py), and every judgement (verdict.py, result.py).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from acp_agent import __version__
from acp_agent.harness.part import Part
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check, RuleOutcome, Summary, Verdict, summarise
from acp_agent.protocol.rules import RULES

FORMAT: Final = "acp-harness-report"
VERSION: Final = 1
SCHEMA: Final = "harness-report.json"

MOST_ENTRIES: Final = 300
"""Messages of one connection in a report; the trace has them all."""

AROUND: Final = 6
"""Messages before and after a piece of evidence that are kept in any case."""

_AT_THE_ENDS: Final = 100
_MOST_CHECKS: Final = 50


@dataclass(frozen=True, slots=True)
class Run:
    """What was played and what came of it. command: the client's, "" if a person started it.

    available: how many scenarios there are; fewer results mean that somebody has chosen.
    """

    results: tuple[ScenarioResult, ...]
    command: str = ""
    available: int = 0
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration_s: float = 0.0

    @property
    def summary(self) -> Summary:
        """The rules over all scenarios."""
        return summarise(outcome for result in self.results for outcome in result.outcomes)

    @property
    def client(self) -> dict[str, Any] | None:
        """What the client calls itself, where it said so first."""
        return next((result.client for result in self.results if result.client), None)

    @property
    def client_name(self) -> str:
        """The client in a few words."""
        client = self.client or {}
        words = [client.get("title") or client.get("name"), client.get("version")]
        return " ".join(str(word) for word in words if word) or "The client"

    @property
    def capabilities(self) -> dict[str, Any]:
        """What it advertised, where it did so first."""
        found = (part.capabilities for result in self.results for part in result.parts if part.client)
        return next(found, {})

    @property
    def is_selection(self) -> bool:
        """Whether some scenarios were left out."""
        return len(self.results) < self.available

    def counts(self) -> dict[Verdict, int]:
        """How many scenarios ended in each way."""
        return {verdict: sum(result.verdict is verdict for result in self.results) for verdict in Verdict}

    def areas(self) -> dict[str, list[ScenarioResult]]:
        """The results by area."""
        areas: dict[str, list[ScenarioResult]] = {}
        for result in self.results:
            areas.setdefault(result.scenario.area, []).append(result)
        return areas

    def outcomes_of(self, rule: str) -> Iterator[tuple[ScenarioResult, RuleOutcome]]:
        """What each scenario that had to do with a rule has found about it."""
        for result in self.results:
            for outcome in result.outcomes:
                if outcome.rule == rule:
                    yield result, outcome

    def why_not(self, rule: str) -> str:
        """Why a rule was not exercised or is not applicable: the reasons of the scenarios, each once."""
        reasons = dict.fromkeys(outcome.reason for _, outcome in self.outcomes_of(rule) if outcome.reason)
        return "; ".join(reasons)


def write_report(directory: Path, run: Run) -> Path:
    """Write the three files; returns the path of report.html. Raises OSError."""
    from acp_agent.harness.junit import junit_xml  # who only plays a scenario writes none of them
    from acp_agent.harness.page import page

    directory.mkdir(parents=True, exist_ok=True)
    html = directory / "report.html"
    _replace(directory / "report.json", orjson.dumps(describe(run), option=orjson.OPT_INDENT_2))
    _replace(directory / "junit.xml", junit_xml(run))
    _replace(html, page(run))
    return html


def _replace(path: Path, content: bytes) -> None:
    """As a whole: a browser that shows it, or a machine that waits for it, never sees half."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(content)
    beside.replace(path)


def describe(run: Run) -> dict[str, Any]:
    """The run as report.json has it."""
    summary = run.summary
    return {
        "format": FORMAT,
        "version": VERSION,
        "harness": __version__,
        "started": run.started.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "durationS": round(run.duration_s, 3),
        "client": {"command": run.command, "info": run.client, "capabilities": run.capabilities},
        "conclusion": summary.conclusion,
        "scenariosAvailable": max(run.available, len(run.results)),
        "counts": {str(verdict): number for verdict, number in run.counts().items()},
        "broken": list(summary.broken),
        "advice": list(summary.advice),
        "unproven": list(summary.unproven),
        "rules": [_describe_rule(run, id_, verdict) for id_, verdict in summary.verdicts.items()],
        "scenarios": [_describe_result(result) for result in run.results],
    }


def _describe_rule(run: Run, id_: str, verdict: Verdict) -> dict[str, Any]:
    rule = RULES[id_]
    return {
        "id": id_,
        "tier": rule.tier,
        "page": rule.page,
        "sentence": rule.sentence,
        "verdict": verdict,
        "reason": run.why_not(id_) if verdict not in {Verdict.PASS, Verdict.FAIL} else "",
        "scenarios": [result.scenario.id for result, _ in run.outcomes_of(id_)],
    }


def _describe_result(result: ScenarioResult) -> dict[str, Any]:
    ending = result.exit
    return {
        "id": result.scenario.id,
        "title": result.scenario.title,
        "verdict": result.verdict,
        "reason": result.reason,
        "user": result.scenario.ask,
        "rules": [
            {
                "rule": outcome.rule,
                "verdict": outcome.verdict,
                "reason": outcome.reason,
                "checks": [check._asdict() for check in told(outcome.checks)],
                "checksLeftOut": len(outcome.checks) - len(told(outcome.checks)),
            }
            for outcome in result.outcomes
        ],
        "remarks": [remark._asdict() for remark in result.remarks[:_MOST_CHECKS]],
        "errors": list(result.errors),
        "exit": {
            "code": ending.exit_code,
            "hung": ending.hung,
            "durationS": ending.duration_s,
            "output": ending.output,
        },
        "connections": [_describe_part(result, part) for part in result.parts],
    }


def _describe_part(result: ScenarioResult, part: Part) -> dict[str, Any]:
    kept = excerpt(part.transcript, evidence(result, part.life))
    return {
        "life": part.life,
        "trace": trace_path(result, part),
        "entries": [entry.to_object() for entry in kept],
        "entriesLeftOut": (part.transcript[-1].number - part.transcript[0].number + 1 - len(kept))
        if part.transcript
        else 0,
    }


def trace_path(result: ScenarioResult, part: Part) -> str:
    """Where the raw record of a connection is, from the report's directory."""
    return posixpath.normpath(f"{result.scenario.command}/{part.trace}") if part.trace else ""


def told(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """As many checks as a report shows, those that failed first: a client may do the same wrong thousands of times."""
    return tuple(sorted(checks, key=lambda check: check.ok))[:_MOST_CHECKS]


def evidence(result: ScenarioResult, life: int) -> set[int]:
    """The numbers of the messages that failed checks of one connection are about."""
    return {
        check.at
        for outcome in result.outcomes
        for check in told(outcome.checks)
        if not check.ok and check.life == life and check.at >= 0
    }


def excerpt(entries: Iterable[Entry], about: Iterable[int], most: int = MOST_ENTRIES) -> list[Entry]:
    """The entries worth keeping of a long connection, in order: its beginning, its end, and around the evidence."""
    entries = list(entries)
    if len(entries) <= most:
        return entries
    wanted = {number + offset for number in sorted(about) for offset in range(-AROUND, AROUND + 1)}
    ends = {entry.number for entry in (*entries[:_AT_THE_ENDS], *entries[-_AT_THE_ENDS:])}
    room = most - len(ends)
    near = [entry.number for entry in entries if entry.number in wanted - ends][:room]
    kept = ends | set(near)
    return [entry for entry in entries if entry.number in kept]
