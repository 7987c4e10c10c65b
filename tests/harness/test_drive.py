"""The harness as a whole: a conforming client gets no FAIL, and each bad client fails exactly what it breaks."""

from __future__ import annotations

import ast
import shlex
import sys
from pathlib import Path

import pytest

from acp_agent.harness.catalogue import all_scenarios, select
from acp_agent.harness.drive import Driver
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.verdict import Verdict

TESTS = Path(__file__).resolve().parents[1]
RAW_CLIENT = TESTS / "harness" / "raw_client.py"
BAD_CLIENTS = sorted((TESTS / "bad_clients").glob("*.py"))


def client_command(program: Path) -> str:
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {{agent}} {{prompt}} {{cwd}}"


def drive(program: Path, directory: Path, *names: str, timeout_s: float = 60.0) -> dict[str, ScenarioResult]:
    driver = Driver(client_command(program), directory, timeout_s=timeout_s)
    return {result.scenario.id: result for result in driver.run(select(names))}


@pytest.mark.parametrize("scenario", [scenario.id for scenario in all_scenarios()])
def test_the_conforming_client_passes(scenario: str, tmp_path: Path) -> None:
    """Every rule of the scenario is exercised, the observer finds nothing, and the harness itself is sound."""
    result = drive(RAW_CLIENT, tmp_path, scenario)[scenario]
    assert result.errors == ()
    assert [check for outcome in result.outcomes for check in outcome.checks if not check.ok] == []
    assert [
        (outcome.rule, outcome.reason) for outcome in result.outcomes if outcome.verdict is not Verdict.PASS
    ] == []
    assert result.verdict is Verdict.PASS, result.reason


@pytest.mark.parametrize("path", BAD_CLIENTS, ids=[path.stem for path in BAD_CLIENTS])
def test_a_bad_client_fails_what_it_breaks(path: Path, tmp_path: Path) -> None:
    """Its BREAKS names each scenario that has to catch it, and the rules that are found broken there."""
    breaks = read_breaks(path)
    names = [name for name in breaks if name != "*"] or ["forward/unknown-update"]
    results = drive(path, tmp_path, *names, timeout_s=25.0)
    for name, result in results.items():
        wanted = breaks.get(name, breaks.get("*", set()))
        assert set(result.failed_rules) == wanted, name
        assert result.errors == ()


def read_breaks(path: Path) -> dict[str, set[str]]:
    """BREAKS of a bad client, without running it: it has modules of its own beside it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "BREAKS":
            breaks: dict[str, set[str]] = ast.literal_eval(node.value)
            return breaks
    raise AssertionError(f"{path.name} does not say what it breaks")
