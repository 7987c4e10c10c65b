"""The command line: what it prints, what it exits with, and that wrong arguments are one sentence."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent import cli
from acp_agent.harness.commands import main

TESTS = Path(__file__).resolve().parents[1]
RAW_CLIENT = TESTS / "harness" / "raw_client.py"
BAD_CLIENT = TESTS / "bad_clients" / "permission_cancelled_misspelt.py"


def client(program: Path) -> str:
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {{agent}} {{prompt}} {{cwd}}"


def run(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "acp_agent", "harness", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, **options},
    )


@pytest.mark.parametrize(
    ("program", "code", "conclusion"),
    [(RAW_CLIENT, 0, "conformant"), (BAD_CLIENT, 1, "not conformant")],
    ids=["conforming", "faulty"],
)
def test_run_exits_by_its_conclusion_and_leaves_a_report(
    program: Path, code: int, conclusion: str, tmp_path: Path
) -> None:
    """0 conformant, 1 not; the last line says where the report is."""
    scenarios = ["--scenario", "permission/cancel-while-open", "--scenario", "ids/strings"]
    done = run("run", "--client", client(program), *scenarios, "--report", str(tmp_path))
    assert done.returncode == code, done.stderr
    lines = done.stdout.splitlines()
    assert f"The client is {conclusion}." in lines[-2]
    assert lines[-1] == f"Report: {tmp_path / 'report.html'}"
    assert "\x1b" not in done.stdout
    document = json.loads((tmp_path / "report.json").read_bytes())
    assert document["conclusion"] == conclusion
    assert (tmp_path / "junit.xml").is_file()


def test_the_client_must_be_seen_to_be_called_conformant(tmp_path: Path) -> None:
    """A client that does nothing passes nothing."""
    done = run("run", "--client", "true {agent}", "--scenario", "ids/strings", "--report", str(tmp_path))
    assert done.returncode == 1
    assert "not shown to be conformant" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["run"], "the following arguments are required: --client"),
        (["run", "--client", "my-client"], "the client's command needs {agent}"),
        (["run", "--client", "c {agent}", "--jobs", "0"], "--jobs and --timeout are greater than zero"),
        (["run", "--client", "c {agent}", "--scenario", "no/such"], "there is no scenario 'no/such'"),
        (["show", "no/such"], "there is no scenario 'no/such'"),
        (["explain", "R-999"], "there is no rule 'R-999' for clients"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_a_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with nothing on standard output."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert sentence in err
    assert err.count("\n") == 1
    assert out == ""


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Before or after the run."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    choice = ["--scenario", "ids/strings", "--report", str(tmp_path / "file" / "report")]
    for command in (["run", "--client", "true {agent}"], ["serve"]):
        done = run(*command, *choice)
        assert done.returncode == 2
        assert "the report cannot be written" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["list"], "permission/cancel-while-open"),
        (["list", "--scenario", "ids"], "ids/strings"),
        (["show", "permission-reject"], "permission/reject"),
        (["explain", "r-154"], "permission/cancel-while-open"),
        (["explain", "R-153"], "No scenario exercises it."),
    ],
)
def test_what_there_is_can_be_read(
    arguments: list[str], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command line of the whole program."""
    assert cli.main(["harness", *arguments]) == 0
    assert found in capsys.readouterr().out


def test_whoever_stops_reading_gets_no_complaint() -> None:
    """`harness list | head -1`."""
    command = f"{shlex.quote(sys.executable)} -P -m acp_agent harness list | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=100, check=True)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_lines_fit_the_terminal() -> None:
    """80 columns, or what COLUMNS says."""
    for columns in ("60", "80", "120"):
        done = run("list", COLUMNS=columns)
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
