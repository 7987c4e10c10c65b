"""The fixture in somebody else's suite, as the documentation shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "harness.md"
RAW_CLIENT = Path(__file__).with_name("raw_client.py")
CONFTEST = 'pytest_plugins = ["acp_agent.harness.pytest_plugin"]\n'


def run_suite(directory: Path, test: str, *options: str) -> subprocess.CompletedProcess[str]:
    (directory / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (directory / "test_client.py").write_text(test, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(directory),
    ]
    return subprocess.run(
        [*command, *options, str(directory)], capture_output=True, text=True, timeout=100, check=False
    )


def test_the_documented_example_runs(tmp_path: Path) -> None:
    """Word for word, one scenario of it that passes and one that fails."""
    example = re.search(
        r"```python\n(# test_client\.py\n.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL
    )
    assert example is not None
    assert CONFTEST.strip() in DOCS.read_text(encoding="utf-8")
    choice = ["--acp-scenario", "forward/unknown-request", "--acp-scenario", "permission/reject"]
    done = run_suite(tmp_path, example[1], *choice, "--acp-report", str(tmp_path / "report"))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "permission/reject: fail" in done.stdout
    assert "Traceback" not in done.stdout
    document = json.loads((tmp_path / "report" / "report.json").read_bytes())
    assert document["counts"]["pass"] == 1
    assert (tmp_path / "report" / "report.html").is_file()


def test_a_command_is_run_and_what_says_nothing_is_skipped(tmp_path: Path) -> None:
    """A client in any language; the reason stands in pytest's summary."""
    test = (
        "def test_good(acp_scenario):\n"
        f"    acp_scenario.run({f'{sys.executable} {RAW_CLIENT} {{agent}} {{prompt}} {{cwd}}'!r})\n"
        "def test_never_starts(acp_scenario):\n"
        "    acp_scenario.run('true {agent}')\n"
    )
    done = run_suite(tmp_path, test, "--acp-scenario", "ids/strings")
    assert "1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "ids/strings: not exercised: the client never started the agent" in done.stdout


def test_workers_leave_one_report(tmp_path: Path) -> None:
    """With pytest-xdist."""
    test = (
        "def test_good(acp_scenario):\n"
        f"    acp_scenario.run({f'{sys.executable} {RAW_CLIENT} {{agent}} {{prompt}} {{cwd}}'!r})\n"
    )
    chosen = ["--acp-scenario", "ids/strings", "--acp-scenario", "ids/whole-numbers"]
    done = run_suite(tmp_path, test, *chosen, "-n", "2", "--acp-report", str(tmp_path / "report"))
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    document = json.loads((tmp_path / "report" / "report.json").read_bytes())
    assert document["counts"]["pass"] == 2


def test_a_report_is_of_one_run(tmp_path: Path) -> None:
    """What an earlier run has left in the directory is no result of this one."""
    test = (
        "def test_good(acp_scenario):\n"
        f"    acp_scenario.run({f'{sys.executable} {RAW_CLIENT} {{agent}} {{prompt}} {{cwd}}'!r})\n"
    )
    for name in ("ids/strings", "ids/whole-numbers"):
        done = run_suite(tmp_path, test, "--acp-scenario", name, "--acp-report", str(tmp_path / "report"))
        assert "1 passed" in done.stdout, done.stdout + done.stderr
        document = json.loads((tmp_path / "report" / "report.json").read_bytes())
        assert [scenario["id"] for scenario in document["scenarios"]] == [name]


@pytest.mark.parametrize("name", ["no/such"])
def test_a_wrong_name_is_one_sentence(name: str, tmp_path: Path) -> None:
    """As on the command line."""
    done = run_suite(tmp_path, "def test_it(acp_scenario): ...\n", "--acp-scenario", name)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"there is no scenario '{name}'" in done.stdout + done.stderr
