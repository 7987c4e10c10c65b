"""report.html: a run for people, one file that needs nothing else, the verdict first.

Then what is broken with the exchange that proves it, advice, the rules by the page of the protocol they are stated on,
what was not exercised and why, and all scenarios with their transcripts folded. Everything in it that comes from a
client goes through markup.text. Deliberately absent: scripts, fonts and links to anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import orjson

from acp_agent import __version__
from acp_agent.harness.markup import count, text
from acp_agent.harness.part import Part
from acp_agent.harness.report import Run, evidence, excerpt, told, trace_path
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.timeline import around, lanes
from acp_agent.harness.verdict import Check, Conclusion, RuleOutcome, Verdict
from acp_agent.protocol.rules import RULES, Rule

MOST_TRANSCRIPT_BYTES: Final = 12 * 1024 * 1024
"""Transcripts in one page; of the scenarios after that only those with a failure have theirs."""

_CHECKS_SHOWN: Final = 4
_LONGEST_TRANSCRIPT: Final = 120
_TAGS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.NOT_EXERCISED: "skip",
    Verdict.NOT_APPLICABLE: "na",
}
_PAGES: Final = {
    "transports": "Transport and framing",
    "json-rpc": "JSON-RPC",
    "schema": "Types and values",
    "rfd": "Additions to the protocol",
    "project": "Robustness (rules of this project)",
}
_HEAD: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="referrer" content="no-referrer">'
)


def page(run: Run) -> bytes:
    """The whole document, in UTF-8."""
    faults = [result for result in run.results if _decides(result)]
    advice = [result for result in run.results if _advises(result) and not _decides(result)]
    sections = [
        _HEAD,
        f"<title>{text(run.client_name, 100)}: {run.summary.conclusion}</title><style>{_style()}</style></head>",
        f"<body><main>{_verdict(run)}",
        _harness_faults(run),
        _faults("What is broken", faults, "fault"),
        _faults("Advice that was not followed", advice, "fault advice"),
        _rules(run),
        _not_looked_at(run),
        _scenarios(run),
        _footer(run),
        "</main></body></html>\n",
    ]
    return "".join(sections).encode("utf-8", "replace")


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _decides(result: ScenarioResult) -> bool:
    return any(RULES[rule].tier.decides for rule in result.failed_rules)


def _advises(result: ScenarioResult) -> bool:
    return bool(result.failed_rules)


# -- The top


def _verdict(run: Run) -> str:
    summary, counts = run.summary, run.counts()
    tone = {Conclusion.CONFORMANT: "pass", Conclusion.NOT_CONFORMANT: "fail"}.get(summary.conclusion, "warn")
    rows = [("Client", text(run.client_name, 200))]
    if run.command:
        rows.append(("Command", f"<code>{text(run.command, 1000)}</code>"))
    if run.client is not None:
        capabilities = orjson.dumps(run.capabilities, option=orjson.OPT_INDENT_2).decode()
        folded = (
            f"<details><summary>as it says in initialize</summary><pre>{text(capabilities)}</pre></details>"
        )
        rows.append(("Capabilities", folded))
    rows.append(("Run", f"{run.started:%Y-%m-%d %H:%M} UTC, {run.duration_s:.1f} s, harness {__version__}"))
    facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    total = max(1, len(run.results))
    bar = "".join(
        f'<i class="{_TAGS[verdict]}" style="width:{100 * number / total:.2f}%"></i>'
        for verdict, number in counts.items()
        if number
    )
    key = "".join(
        f'<li class="{_TAGS[verdict]}"><i></i><b>{number}</b> {verdict}</li>'
        for verdict, number in counts.items()
    )
    return (
        f'<h1>Agent Client Protocol: test of a client</h1><section class="card verdict {tone}">'
        f'<p class="big">{_capital(_conclusion(run))}</p>{_because(run)}'
        f'<div class="bar" aria-hidden="true">{bar}</div><ul class="key">{key}</ul><dl>{facts}</dl></section>'
    )


def _conclusion(run: Run) -> str:
    return f"{run.summary.conclusion}"


def _because(run: Run) -> str:
    summary = run.summary
    sentences = []
    if summary.broken:
        scenarios = sum(_decides(result) for result in run.results)
        sentences.append(
            f"{count(len(summary.broken), 'binding rule')} broken, in {count(scenarios, 'scenario')}: "
            f"{_rule_links(summary.broken)}."
        )
    if summary.unproven:
        sentences.append(
            f"{count(len(summary.unproven), 'MUST rule')} never exercised: {_rule_links(summary.unproven)}."
        )
    if summary.advice:
        sentences.append(
            f"{count(len(summary.advice), 'piece', 'pieces')} of advice not followed: {_rule_links(summary.advice)}."
        )
    if summary.conclusion is Conclusion.CONFORMANT:
        sentences.insert(0, "No binding rule is broken, and every MUST was exercised.")
    if run.is_selection:
        sentences.append(f"Only {len(run.results)} of {run.available} scenarios were played.")
    return "".join(f"<p>{sentence}</p>" for sentence in sentences)


def _rule_links(rules: Iterable[str]) -> str:
    return ", ".join(f'<a href="#{rule}">{rule}</a>' for rule in rules)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _harness_faults(run: Run) -> str:
    found = [(result, error) for result in run.results for error in result.errors]
    if not found:
        return ""
    items = "".join(
        f"<li><b>{result.scenario.id}</b>: {text(error)}. The client is not to blame.</li>"
        for result, error in found
    )
    return f'<h2>Faults of the harness</h2><div class="card"><ul class="plain">{items}</ul></div>'


# -- What is broken


def _faults(title: str, results: list[ScenarioResult], classes: str) -> str:
    if not results:
        return ""
    return f"<h2>{title}</h2>" + "".join(_fault(result, classes) for result in results)


def _fault(result: ScenarioResult, classes: str) -> str:
    scenario = result.scenario
    failed = [outcome for outcome in result.outcomes if outcome.verdict is Verdict.FAIL]
    failed.sort(key=lambda outcome: not RULES[outcome.rule].tier.decides)
    rules = "".join(_broken_rule(outcome) for outcome in failed)
    return (
        f'<section class="card {classes}" id="{scenario.command}"><div class="titled"><h3>{scenario.id}</h3>'
        f'<span class="soft">{text(scenario.title)}</span></div>{rules}'
        f"<h4>The exchange</h4>{_exchange(result, failed)}{_rest(result)}</section>"
    )


def _broken_rule(outcome: RuleOutcome) -> str:
    rule = RULES[outcome.rule]
    failed = [check for check in told(outcome.checks) if not check.ok]
    seen = "".join(_seen(check, rule) for check in failed[:_CHECKS_SHOWN])
    left_out = sum(not check.ok for check in outcome.checks) - min(len(failed), _CHECKS_SHOWN)
    more = f'<p class="soft">and {count(left_out, "time")} more</p>' if left_out > 0 else ""
    return (
        f'<div class="rule"><p><a href="#{rule.id}"><b>{rule.id}</b></a> {_tier(rule)} '
        f"{text(rule.sentence)}</p>{seen}{more}</div>"
    )


def _seen(check: Check, rule: Rule) -> str:
    where = f' <span class="soft">(message #{check.at})</span>' if check.at >= 0 else ""
    # What the observer expects is the rule itself, which stands above.
    wanted = (
        f"<dt>Expected</dt><dd>{text(check.expected, 600)}</dd>" if check.expected != rule.sentence else ""
    )
    return f'<dl class="seen">{wanted}<dt>Seen</dt><dd class="saw">{text(check.saw, 600)}{where}</dd></dl>'


def _exchange(result: ScenarioResult, failed: list[RuleOutcome]) -> str:
    """The messages around the evidence, of each connection that has some; of the last one if none has."""
    drawn: list[str] = []
    for part in result.parts:
        about = evidence(result, part.life)
        if about or (part is result.parts[-1] and not drawn):
            several = f'<p class="soft">Connection {part.life}</p>' if len(result.parts) > 1 else ""
            drawn.append(several + lanes(around(part.transcript, about), _marks(failed, part)))
    return "".join(drawn) or '<p class="soft">The client did not start the agent.</p>'


def _marks(failed: list[RuleOutcome], part: Part) -> dict[int, str]:
    """Entry -> what is wrong with it."""
    marks: dict[int, list[str]] = {}
    for outcome in failed:
        for check in told(outcome.checks):
            if not check.ok and check.life == part.life and check.at >= 0:
                marks.setdefault(check.at, []).append(outcome.rule)
    return {number: f"✗ breaks {', '.join(dict.fromkeys(rules))}" for number, rules in marks.items()}


def _rest(result: ScenarioResult) -> str:
    """How the client ended, remarks, and the whole transcript, folded."""
    pieces = [f'<p class="soft">{how}</p>' for how in _ending(result)]
    if result.remarks:
        items = "".join(f"<li>{text(remark.sentence, 400)}</li>" for remark in result.remarks[:20])
        pieces.append(f'<h4>Remarks, held against nobody</h4><ul class="plain">{items}</ul>')
    if result.exit.output:
        output = text(result.exit.output[-4000:], 4000)
        pieces.append(
            f'<details class="more"><summary>What the client wrote</summary><pre>{output}</pre></details>'
        )
    pieces += (_transcript(result, part) for part in result.parts)
    return "".join(pieces)


def _ending(result: ScenarioResult) -> Iterator[str]:
    ending = result.exit
    if ending.hung:
        yield f"The client did not end and was ended after {ending.duration_s:.0f} s."
    elif ending.exit_code is not None:
        yield f"The client exited with {ending.exit_code} after {ending.duration_s:.1f} s."


def _transcript(result: ScenarioResult, part: Part) -> str:
    kept = excerpt(part.transcript, evidence(result, part.life), _LONGEST_TRANSCRIPT)
    path = trace_path(result, part)
    raw = (
        f' <span class="soft">The raw record is <a href="{text(path)}">{text(path)}</a>.</span>'
        if path
        else ""
    )
    name = "Transcript" if len(result.parts) == 1 else f"Transcript of connection {part.life}"
    return (
        f'<details class="more"><summary>{name}, {count(_length(part), "entry", "entries")}</summary>'
        f"<p>{raw}</p>{lanes(kept, fold=False)}</details>"
    )


def _length(part: Part) -> int:
    return part.transcript[-1].number - part.transcript[0].number + 1 if part.transcript else 0


# -- Rules


def _tier(rule: Rule) -> str:
    return f'<span class="tag tier">{rule.tier}</span>'


def _tag(verdict: Verdict) -> str:
    return f'<span class="tag {_TAGS[verdict]}">{verdict}</span>'


def _rules(run: Run) -> str:
    pages: dict[str, list[str]] = {}
    for rule in run.summary.verdicts:
        pages.setdefault(RULES[rule].page, []).append(rule)
    areas = "".join(_rule_area(run, page_name, rules) for page_name, rules in sorted(pages.items()))
    return f'<h2 id="rules">Rules by area</h2>{areas}'


def _rule_area(run: Run, page_name: str, rules: list[str]) -> str:
    verdicts = run.summary.verdicts
    title = _PAGES.get(page_name, _capital(page_name.replace("-", " ")))
    tags = _tally(verdicts[rule] for rule in rules)
    rows = "".join(_rule_row(run, RULES[rule], verdicts[rule]) for rule in rules)
    is_open = " open" if any(verdicts[rule] is Verdict.FAIL for rule in rules) else ""
    return (
        f'<details class="card area"{is_open}><summary><b>{text(title)}</b>{tags}</summary>'
        f'<table class="rules">{rows}</table></details>'
    )


def _tally(verdicts: Iterable[Verdict]) -> str:
    found = list(verdicts)
    return "".join(
        f'<span class="tag {_TAGS[verdict]}">{number} {verdict}</span>'
        for verdict in Verdict
        if (number := found.count(verdict))
    )


def _rule_row(run: Run, rule: Rule, verdict: Verdict) -> str:
    if verdict in {Verdict.PASS, Verdict.FAIL}:
        there = [
            result.scenario for result, outcome in run.outcomes_of(rule.id) if outcome.verdict is verdict
        ]
        links = ", ".join(f'<a href="#all-{scenario.command}">{scenario.id}</a>' for scenario in there[:12])
        why = links + (f" and {len(there) - 12} more" if len(there) > 12 else "")
    else:
        why = text(run.why_not(rule.id), 600)
    return (
        f'<tr id="{rule.id}"><td class="id">{rule.id}</td><td class="v">{_tag(verdict)}</td>'
        f'<td class="s">{text(rule.sentence)} {_tier(rule)}<span class="why">{why}</span></td></tr>'
    )


# -- The rest


def _not_looked_at(run: Run) -> str:
    found = [r for r in run.results if r.verdict in {Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE}]
    if not found:
        return ""
    rows = "".join(
        f'<tr><td class="v">{_tag(result.verdict)}</td><td class="s"><a href="#all-{result.scenario.command}">'
        f'{result.scenario.id}</a><span class="why">{text(result.reason)}</span></td></tr>'
        for result in found
    )
    heading = '<h2 id="not-exercised">Not exercised, not applicable</h2>'
    return f'{heading}<div class="card"><table class="rules">{rows}</table></div>'


def _scenarios(run: Run) -> str:
    left = MOST_TRANSCRIPT_BYTES
    areas = []
    for area, results in run.areas().items():
        rows = []
        for result in results:
            row = _scenario(result, whole=left > 0)
            left -= len(row)
            rows.append(row)
        tags = _tally(result.verdict for result in results)
        areas.append(
            f'<details class="card area"><summary><b>{area}</b>{tags}</summary>{"".join(rows)}</details>'
        )
    return f'<h2 id="scenarios">All scenarios</h2>{"".join(areas)}'


def _scenario(result: ScenarioResult, *, whole: bool) -> str:
    scenario = result.scenario
    why = f'<p class="soft">{text(result.reason)}</p>' if result.reason else ""
    rows = "".join(
        f'<tr><td class="id"><a href="#{o.rule}">{o.rule}</a></td><td class="v">{_tag(o.verdict)}</td>'
        f'<td class="s">{text(RULES[o.rule].sentence)}<span class="why">{_evidence_of(o)}</span></td></tr>'
        for o in result.outcomes
    )
    if result.failed_rules:
        rest = f'<p class="more"><a href="#{scenario.command}">The exchange is above.</a></p>'
    elif whole:
        rest = _rest(result)
    else:
        rest = '<p class="soft">Its transcript is left out, this page is long; the raw record has everything.</p>'
    return (
        f'<details class="one" id="all-{scenario.command}"><summary>{_tag(result.verdict)}<b>{scenario.id}</b>'
        f'<span class="soft">{text(scenario.title)}</span></summary>{why}'
        f'<p class="soft">What the user does: {text(scenario.ask)}</p>'
        f'<table class="rules">{rows}</table>{rest}</details>'
    )


def _evidence_of(outcome: RuleOutcome) -> str:
    """A rule's check in a line: the first that failed, else the first."""
    checks = told(outcome.checks)
    if not checks:
        return text(outcome.reason, 300)
    check = checks[0]
    place = f" (#{check.at})" if check.at >= 0 else ""
    return f"expected {text(check.expected, 200)}; saw {text(check.saw, 200)}{place}"


def _footer(run: Run) -> str:
    again = "acp-agent harness run" if run.command else "acp-agent harness serve"
    return (
        "<footer><p>The same as data: report.json, junit.xml; the bytes of each connection: trace-*.jsonl in the "
        f"directory of each scenario. To play one again: <code>{again} --scenario ID</code>; "
        "to read about a rule: <code>acp-agent harness explain R-NNN</code>.</p></footer>"
    )
