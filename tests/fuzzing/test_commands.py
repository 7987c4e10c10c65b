"""The command line: exit codes, one sentence for each mistake, and a campaign from start to reproducer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acp_agent.fuzzing import commands

BAD_AGENTS = Path(__file__).resolve().parents[1] / "bad_agents"


def fuzz(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "acp_agent", "fuzz", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["agent"], "the agent's command is expected after --"),
        (
            ["agent", "--examples", "0", "--", "x"],
            "--time, --examples, --workers and --timeout are greater than zero",
        ),
        (["agent", "--examples", "1", "--", "no-such-agent"], "'no-such-agent' cannot be started: "),
        (["agent", "--until", "R-999", "--", "x"], "there is no rule 'R-999'"),
        (
            ["agent", "--prompts", "no-such-file", "--", "x"],
            "no-such-file cannot be read: No such file or directory",
        ),
        (["reproduce", "no-such-file", "--", "x"], "no-such-file cannot be read: "),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Code 2, nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    assert commands.main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"acp-agent fuzz: {sentence}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_campaign_leaves_no_agent_behind(
    workers: str, tmp_path: Path, raw_agent: list[str]
) -> None:
    """Code 130, one sentence, no report; the agents' output is a pipe that nobody holds any more."""
    arguments = [
        "agent",
        "--time",
        "100",
        "--workers",
        workers,
        "--",
        "/bin/sh",
        "-c",
        'echo $$ >>pids; exec "$@"',
        "sh",
    ]
    campaign = subprocess.Popen(
        [sys.executable, "-P", "-m", "acp_agent", "fuzz", *arguments, *raw_agent],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = tmp_path / "pids"
    while not pids.exists() or not pids.read_text(encoding="utf-8"):
        time.sleep(0.05)
    campaign.send_signal(signal.SIGINT)
    out, error = campaign.communicate(timeout=100)
    assert (campaign.returncode, out, error) == (
        130,
        "",
        "acp-agent fuzz: interrupted; the agents are ended\n",
    )
    left = [pid for pid in pids.read_text(encoding="utf-8").split() if Path(f"/proc/{pid}").exists()]
    assert left == []


def test_the_find_in_the_readme_is_what_is_printed(tmp_path: Path) -> None:
    """The agent and the find are those that the README shows."""
    readme = (BAD_AGENTS.parents[1] / "README.md").read_text(encoding="utf-8")
    shown = next(block for block in readme.split("```") if block.startswith("console\nR-135"))
    bad = [sys.executable, "-I", "-S", str(BAD_AGENTS / "speaks_after_the_end.py")]
    found = fuzz(tmp_path, "agent", "--examples", "10", "--seed", "2", "--until", "R-135", "--", *bad)
    # How short the exchange gets depends on the time there was; the find and its last message do not.
    lines = shown.removeprefix("console\n").splitlines()
    assert found.stdout.splitlines()[:2] == lines[:2]
    assert lines[-1] in found.stdout.splitlines()


def test_without_hypothesis_one_sentence_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra; nothing else of the program needs it."""
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    assert commands.main(["agent", "--", "x"]) == 2
    assert capsys.readouterr().err == f"acp-agent fuzz: {commands.NEEDS_HYPOTHESIS}\n"


def test_neither_the_commands_nor_a_reproducer_load_hypothesis() -> None:
    """Whoever mends an agent plays finds again without it."""
    program = (
        "import sys, acp_agent.fuzzing.commands, acp_agent.fuzzing.reproduce\n"
        "print('hypothesis' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_find_from_the_campaign_to_the_reproducer(tmp_path: Path, raw_agent: list[str]) -> None:
    """Code 1 with a report, code 1 again for the trace, code 0 for an agent that is in order."""
    bad = [sys.executable, "-I", "-S", str(BAD_AGENTS / "prints_a_banner.py")]
    found = fuzz(tmp_path, "agent", "--examples", "3", "--seed", "1", "--until", "R-005", "--", *bad)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith(
        "R-005 (MUST) The agent writes nothing but messages to its standard output.\n"
    )
    report = json.loads((tmp_path / "acp-fuzz-report" / "report.json").read_bytes())
    [find] = report["finds"]
    assert find["messages"] <= 12
    trace = str(tmp_path / "acp-fuzz-report" / find["trace"])
    again = fuzz(tmp_path, "reproduce", trace, "--", *bad)
    assert (again.returncode, again.stdout.split()[0]) == (1, "R-005")
    mended = fuzz(tmp_path, "reproduce", trace, "--", *raw_agent)
    assert (mended.returncode, mended.stdout.split(".")[0].split(":")[0]) == (0, "Nothing is wrong any more")
