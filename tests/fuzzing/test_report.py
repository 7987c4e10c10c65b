"""The files of a campaign: a report that follows its schema, JUnit, traces that can be read, a pytest file."""

from __future__ import annotations

import ast
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from acp_agent.fuzzing.exchange import Slice
from acp_agent.fuzzing.finds import Find, Results
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.program import Level
from acp_agent.fuzzing.report import PYTEST_FILE, SCHEMA, describe, exchange_of, trace_name, write_report
from acp_agent.protocol import schema
from acp_agent.transport.trace import Direction, TraceReader

COMMAND = ["my agent", "--acp"]
STARTED = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
SLICES = (
    Slice(0.0, Direction.CLIENT_TO_AGENT, b'{"id":0}'),
    Slice(0.1, Direction.CLIENT_TO_AGENT, b"\n"),
    Slice(0.2, Direction.AGENT_TO_CLIENT, b'{"bad":"\xff"}\n{"after":1}\n'),
    Slice(0.3, Direction.CLIENT_TO_AGENT, b""),
)
FIND = Find(Finding("R-001", "parse_error", "not \x1b UTF-8", 2), SLICES, 3, 7, True)


def campaign(*finds: Find) -> Results:
    results = Results(Level.HOSTILE, 42, examples=10, messages=100, processes=2, rules={"R-001", "R-016"})
    for find in finds:
        results.note(find)
    return results


def test_the_report_follows_its_schema(tmp_path: Path) -> None:
    """With finds and without."""
    for results in (campaign(FIND), campaign()):
        write_report(tmp_path, results, COMMAND, STARTED)
        document = json.loads((tmp_path / "report.json").read_bytes())
        assert schema.is_valid_document(SCHEMA, document)
        assert document == json.loads(json.dumps(describe(results, COMMAND, STARTED)))
        assert document["started"] == "2026-08-22T09:30:00Z"


def test_the_trace_holds_what_was_written_when_it_was(tmp_path: Path) -> None:
    """Slice by slice, what is no text as well."""
    write_report(tmp_path, campaign(FIND), COMMAND, STARTED)
    with TraceReader(tmp_path / trace_name(FIND)) as trace:
        assert trace.header.programs["agent"] == "'my agent' --acp"
        assert [(record.t, record.direction, record.data) for record in trace] == list(SLICES)


def test_the_exchange_ends_with_what_it_is_about() -> None:
    """What came after is in the trace."""
    assert exchange_of(FIND) == [("client", '{"id":0}'), ("agent", '{"bad":"\ufffd"}')]


def test_junit_has_a_case_for_each_rule(tmp_path: Path) -> None:
    """Failed by its finds; characters that XML has no place for are replaced."""
    write_report(tmp_path, campaign(FIND), COMMAND, STARTED)
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - we have just written it
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    failures = {case.get("name"): case.findtext("failure") for case in suites.iter("testcase")}
    assert failures == {"R-001": "not \ufffd UTF-8 (R-001-parse-error.jsonl)", "R-016": None}


def test_the_pytest_file_is_python_and_names_each_trace(tmp_path: Path) -> None:
    """It is made to be kept beside them; without finds there is none."""
    write_report(tmp_path, campaign(), COMMAND, STARTED)
    assert not (tmp_path / PYTEST_FILE).exists()
    write_report(tmp_path, campaign(FIND), COMMAND, STARTED)
    text = (tmp_path / PYTEST_FILE).read_text(encoding="utf-8")
    ast.parse(text)
    assert json.dumps(trace_name(FIND)) in text
    assert sys.executable not in text
