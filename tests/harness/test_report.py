"""report.json follows its schema, is complete and stays small; the files of a report appear whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from acp_agent import bundled
from acp_agent.harness.report import SCHEMA, Run, describe, excerpt, told, write_report
from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check

if TYPE_CHECKING:
    from conftest import Maker

CHECKED = Draft202012Validator(bundled.load(SCHEMA))


def test_the_schema_is_one() -> None:
    """The bundled file is itself valid."""
    Draft202012Validator.check_schema(bundled.load(SCHEMA))


def test_a_report_follows_its_schema_and_counts_everything(all_sorts: Run) -> None:
    """Each kind of result is in it, and the conclusion with the rules it comes from."""
    document = json.loads(json.dumps(describe(all_sorts)))
    assert list(CHECKED.iter_errors(document)) == []
    assert document["conclusion"] == "not conformant"
    assert (document["broken"], document["advice"]) == (["R-154"], ["R-029", "R-301", "R-316"])
    assert document["counts"] == {"pass": 2, "fail": 2, "not exercised": 3, "not applicable": 1}
    assert [scenario["id"] for scenario in document["scenarios"]][:2] == ["area/passes", "area/fails"]
    fails = document["scenarios"][1]
    assert fails["exit"] == {"code": None, "hung": True, "durationS": 9.0, "output": "log"}
    assert fails["connections"][0]["trace"] == "area-fails/trace-1.jsonl"
    assert document["scenarios"][6]["errors"] == ["the harness failed in the script"]
    assert document["scenarios"][7]["reason"] == "the client never started the agent"
    assert document["rules"][1]["id"] == "R-154"


def test_an_empty_run_has_a_report(maker: Maker) -> None:
    """Nothing played proves nothing, and is no crash."""
    document = describe(maker.run())
    assert list(CHECKED.iter_errors(json.loads(json.dumps(document)))) == []
    assert document["conclusion"] == "not shown to be conformant"


def test_the_three_files_are_written_whole(all_sorts: Run, tmp_path: Path) -> None:
    """No half-written file is ever under its own name, and nothing else is left."""
    report = write_report(tmp_path / "new" / "report", all_sorts)
    assert report.name == "report.html"
    assert sorted(path.name for path in report.parent.iterdir()) == [
        "junit.xml",
        "report.html",
        "report.json",
    ]
    assert list(CHECKED.iter_errors(json.loads((report.parent / "report.json").read_bytes()))) == []


def test_a_client_that_does_wrong_thousands_of_times_gets_a_report_of_bounded_size(maker: Maker) -> None:
    """The first failures are told, the rest counted; the transcript keeps what the failures are about."""
    entries = [Entry(n, n / 10, "client", "noise", "x" * 2000, 2000) for n in range(3000)]
    checks = [Check("R-154", False, "this", "that", n) for n in range(0, 3000, 3)]
    maker.add("area/noisy", checks, entries=entries)
    document = describe(maker.run())
    assert len(json.dumps(document)) < 1_500_000
    outcome = document["scenarios"][0]["rules"][0]
    assert len(outcome["checks"]) + outcome["checksLeftOut"] == 1000
    connection = document["scenarios"][0]["connections"][0]
    assert len(connection["entries"]) + connection["entriesLeftOut"] == 3000


def test_failures_are_told_before_what_held() -> None:
    """A failure must not be hidden behind a hundred checks that held."""
    checks = (*[Check("R-154", True, "a", "b")] * 100, Check("R-154", False, "c", "d"))
    assert told(checks)[0].ok is False


@given(st.integers(0, 900), st.sets(st.integers(-5, 1000), max_size=40), st.integers(210, 400))
def test_an_excerpt_is_in_order_and_within_its_limit(length: int, about: set[int], most: int) -> None:
    """Short conversations are whole; of long ones both ends stay, and the evidence as far as there is room."""
    entries = [Entry(number, 0.0, "client", "m") for number in range(length)]
    kept = excerpt(entries, about, most)
    assert len(kept) <= most
    assert kept == sorted(kept)
    if length <= most:
        assert kept == entries
    else:
        assert (kept[0], kept[-1]) == (entries[0], entries[-1])


def test_an_excerpt_shows_what_the_evidence_is_about(entries_of: Callable[[int], list[Entry]]) -> None:
    """In the middle of a long conversation too, with what stood around it."""
    numbers = {entry.number for entry in excerpt(entries_of(2000), [1000])}
    assert set(range(994, 1007)) <= numbers


@pytest.mark.parametrize(("available", "selection"), [(9, True), (8, False), (0, False)])
def test_a_run_of_some_scenarios_is_known_as_one(all_sorts: Run, available: int, selection: bool) -> None:
    """A report says when somebody has chosen."""
    run = Run(all_sorts.results, available=available)
    assert run.is_selection is selection
    assert run.client_name == "tested 1.5"
