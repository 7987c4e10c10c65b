"""What a campaign found as files: report.json, junit.xml, and for each find a trace; a pytest file that plays them.

Owns the form of report.json (schemas/fuzz-report.json). Deliberately absent: what is printed (terminal.py).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import orjson

from acp_agent import __version__
from acp_agent.fuzzing.finds import Find, Results
from acp_agent.jsonrpc.framing import LineBuffer
from acp_agent.protocol.rules import RULES
from acp_agent.transport.trace import Direction, TraceWriter

FORMAT: Final = "acp-fuzz-report"
VERSION: Final = 1
SCHEMA: Final = "fuzz-report.json"
PYTEST_FILE: Final = "test_finds.py"

_MOST_TEXT: Final = 2_000
_XML_ALLOWED: Final = {"\t", "\n"}


def write_report(directory: Path, results: Results, command: Sequence[str], started: datetime) -> None:
    """Write everything into a directory, which is made. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    for find in results.sorted_finds():
        write_trace(directory / trace_name(find), find, command)
    report = describe(results, command, started)
    (directory / "report.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    (directory / "junit.xml").write_bytes(junit_xml(results, command))
    if results.finds:
        (directory / PYTEST_FILE).write_text(pytest_file(results, command), encoding="utf-8")


def trace_name(find: Find) -> str:
    """The file of a find's exchange."""
    return f"{find.name}.jsonl"


def write_trace(path: Path, find: Find, command: Sequence[str]) -> None:
    """The find's exchange in the format of transport/trace.py, with the times as they were. Raises OSError."""
    now = 0.0
    programs = {"agent": shlex.join(command), "client": f"acp-agent fuzz {__version__}"}
    with TraceWriter(path, programs, clock=lambda: now) as writer:
        for one in find.slices:
            now = one.t
            writer.record(one.direction, one.data)
    if writer.error is not None:
        raise writer.error


def describe(results: Results, command: Sequence[str], started: datetime) -> dict[str, Any]:
    """The campaign as report.json has it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "fuzzer": __version__,
        "started": started.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "durationS": round(results.duration_s, 3),
        "command": list(command),
        "level": results.level,
        "seed": results.seed,
        "conversations": results.examples,
        "messages": results.messages,
        "processes": results.processes,
        "rulesTried": sorted(results.rules),
        "machines": {name: measure._asdict() for name, measure in results.coverage.items()},
        "finds": [_describe_find(find) for find in results.sorted_finds()],
    }


def _describe_find(find: Find) -> dict[str, Any]:
    return {
        "rule": find.rule.id,
        "tier": find.rule.tier,
        "page": find.rule.page,
        "sentence": find.rule.sentence,
        "shape": find.finding.shape,
        "saw": find.finding.saw,
        "at": find.finding.at,
        "messages": find.messages,
        "conversation": find.example,
        "confirmed": find.confirmed,
        "trace": trace_name(find),
        "exchange": [{"sender": sender, "text": text} for sender, text in exchange_of(find)],
    }


def exchange_of(find: Find, most: int = 60) -> list[tuple[str, str]]:
    """The lines of a find up to the one that it is about, as ("client" or "agent", text); the last `most` of them."""
    buffers = {direction: LineBuffer() for direction in Direction}
    senders = {Direction.CLIENT_TO_AGENT: "client", Direction.AGENT_TO_CLIENT: "agent"}
    lines: list[tuple[str, str]] = []
    for one in find.slices:
        buffer = buffers[one.direction]
        for line in buffer.feed(one.data) if one.data else buffer.end():
            text = (
                line.decode("utf-8", "replace") if isinstance(line, bytes) else "(a line too long to be read)"
            )
            lines.append(
                (senders[one.direction], text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…")
            )
    return lines[: find.finding.at][-most:]


def junit_xml(results: Results, command: Sequence[str]) -> bytes:
    """For continuous integration: a test case for each rule that was tried or broken, failed by its finds."""
    rules = sorted(results.rules | {find.rule.id for find in results.finds.values()})
    by_rule = {rule: [find for find in results.sorted_finds() if find.rule.id == rule] for rule in rules}
    failures = sum(bool(finds) for finds in by_rule.values())
    numbers = {"tests": str(len(rules)), "failures": str(failures), "time": f"{results.duration_s:.3f}"}
    suites = ElementTree.Element(
        "testsuites", {"name": _clean(f"ACP fuzzing: {shlex.join(command)}"), **numbers}
    )
    suite = ElementTree.SubElement(suites, "testsuite", {"name": f"fuzz {results.level}", **numbers})
    for rule, finds in by_rule.items():
        case = ElementTree.SubElement(suite, "testcase", classname="acp.fuzz", name=rule, time="0")
        if finds:
            failure = ElementTree.SubElement(
                case, "failure", message=_clean(RULES[rule].sentence), type="rule"
            )
            failure.text = _clean("\n".join(f"{find.finding.saw} ({trace_name(find)})" for find in finds))
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def pytest_file(results: Results, command: Sequence[str]) -> str:
    """A test file that plays every find again; whoever mends the agent keeps it beside the traces."""
    names = "".join(f"        {json.dumps(trace_name(find))},\n" for find in results.sorted_finds())
    return f'''"""What acp-agent fuzz has found: each exchange is played again, and must show nothing any more."""

from pathlib import Path

import pytest

from acp_agent.fuzzing.reproduce import reproduce

COMMAND = {json.dumps(list(command))}


@pytest.mark.parametrize(
    "trace",
    [
{names}    ],
)
def test_the_find_is_gone(trace: str) -> None:
    """The rule that was broken is the beginning of the file's name."""
    rule = trace[:5]
    found = [finding for finding in reproduce(Path(__file__).with_name(trace), COMMAND) if finding.rule == rule]
    assert found == []
'''


def _clean(text: str) -> str:
    """What XML has no place for, whatever it is escaped as."""
    return "".join(
        char if (char >= " " and char not in "\ufffe\uffff") or char in _XML_ALLOWED else "\ufffd"
        for char in text
    )
