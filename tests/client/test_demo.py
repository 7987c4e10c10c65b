"""`make demo`: all of it goes as it should, and what does not is not hidden."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent.client import demo


def run_demo(tmp_path: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "acp_agent.client.demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path), **environ},
        timeout=60,
        check=False,
    )


def test_the_demo_shows_each_thing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The answer, a permission, a command, a file as a diff, a refusal, a cancel with its time, where to go next."""
    done = run_demo(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for told in (
        "Bob (bash-first agent)",
        "permission: granted",
        "| I am process ",
        "+++ hello.txt",
        "-Hello, world",
        "+Hello, Bob",
        "permission: refused",
        "to the end of the turn (cancelled): ",
        "exit code 0",
        "All of it went as it should.",
        "acp-agent chat",
        "README.md",
    ):
        assert told in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_does_not_depend_on_what_the_person_has_configured(tmp_path: Path) -> None:
    """It promises that nothing leaves the machine."""
    configuration = tmp_path / "mine.toml"
    configuration.write_text('[model]\nprovider = "openai"\nname = "x"\nbaseUrl = "http://127.0.0.1:9/v1"\n')
    assert run_demo(tmp_path, ACP_AGENT_CONFIG=str(configuration)).returncode == 0


def test_a_demo_that_goes_wrong_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_CONFIGURATION", "[model]\nprovider = 1\n")
    assert demo.main() == 1
    told = capsys.readouterr().out
    assert "The demo failed: the agent" in told
    assert "provider" in told


def test_a_demo_without_end_ends(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "_LONGEST_S", 0.0)
    assert demo.main() == 1
    assert "was not over after 0 s" in capsys.readouterr().out
