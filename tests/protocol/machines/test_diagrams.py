"""DIAGRAMS.md shows the machines as they are, and the command that writes it says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_agent.protocol.machines import diagrams
from acp_agent.protocol.machines.step import CONNECTION, TOOL_CALL, TURN, Table


def test_the_file_shows_the_machines_as_they_are() -> None:
    """Requirement: the drawings in the tree are those of the classes."""
    assert diagrams.PATH.read_text(encoding="utf-8") == diagrams.render()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_check_passes_whatever_the_hash_seed(seed: str) -> None:
    """Requirement: the text does not depend on the run; the command is what a build calls."""
    ran = subprocess.run(
        [sys.executable, "-m", "acp_agent.protocol.machines.diagrams", "--check"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("table", [CONNECTION, TURN, TOOL_CALL], ids=lambda table: table.name)
def test_every_state_event_and_guard_is_in_the_file(table: Table[Any, Any, Any]) -> None:
    """Requirement: nothing of a machine is left out of its chapter."""
    text = diagrams.render()
    for state, ways in table.edges.items():
        assert f"`{state}`" in text
        for event, edges in ways.items():
            assert f"| `{event}` |" in text
            for edge in edges:
                assert all(f"{guard.name}`" in text for guard in edge.guards)


def test_writing_and_checking_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requirement: a missing or changed file fails the check with what to do; writing mends it."""
    path = tmp_path / "DIAGRAMS.md"
    monkeypatch.setattr(diagrams, "PATH", path)
    assert diagrams.main(["--check"]) == 1
    assert "run `python -m acp_agent.protocol.machines.diagrams`" in capsys.readouterr().err
    assert diagrams.main([]) == 0
    assert diagrams.main(["--check"]) == 0
    path.write_text("changed", encoding="utf-8")
    assert diagrams.main(["--check"]) == 1
    assert path.read_text(encoding="utf-8") == "changed"


def test_an_unknown_argument_gets_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Requirement: a mistyped option writes nothing and says what there is."""
    assert diagrams.main(["--chek"]) == 2
    assert capsys.readouterr().err == "usage: python -m acp_agent.protocol.machines.diagrams [--check]\n"
