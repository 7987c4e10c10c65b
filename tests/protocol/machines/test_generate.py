"""The files made of the machine classes are current, and the command that writes them says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent.protocol.machines import generate


@pytest.mark.parametrize("name", ["tables.py", "DIAGRAMS.md"])
def test_the_file_in_the_tree_is_the_generated_one(name: str) -> None:
    """Requirement: the tables the product asks and the drawings are those of the classes."""
    assert (generate.DIRECTORY / name).read_text(encoding="utf-8") == generate.render()[name]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_check_passes_whatever_the_hash_seed(seed: str) -> None:
    """Requirement: the text does not depend on the run; the command is what a build calls."""
    ran = subprocess.run(
        [sys.executable, "-m", "acp_agent.protocol.machines.generate", "--check"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_tables_fit_the_line_length_of_the_project() -> None:
    """Requirement: the formatter finds nothing to break in what was generated."""
    assert max(len(line) for line in generate.render_tables().splitlines()) <= 110


@pytest.mark.parametrize("name", ["tables.py", "DIAGRAMS.md"])
def test_writing_and_checking_another_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requirement: a missing or changed file fails the check with what to do; writing mends it."""
    monkeypatch.setattr(generate, "DIRECTORY", tmp_path)
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / name).unlink()
    assert generate.main(["--check"]) == 1
    advice = f"{name} does not show the machines as they are; run `{generate.COMMAND}`.\n"
    assert capsys.readouterr().err == advice
    (tmp_path / name).write_text("changed", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert (tmp_path / name).read_text(encoding="utf-8") == "changed"
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_an_unknown_argument_gets_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Requirement: a mistyped option writes nothing and says what there is."""
    assert generate.main(["--chek"]) == 2
    assert capsys.readouterr().err == "usage: python -m acp_agent.protocol.machines.generate [--check]\n"
