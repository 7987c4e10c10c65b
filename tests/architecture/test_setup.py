"""The first minute on a machine: which Python is taken, and the one sentence when there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

OLD = '#!/bin/sh\ncase "$2" in *exit*) exit 1;; *print*) echo 3.9;; esac\n'
WITHOUT_VENV = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *print*) echo 3.12;; esac\n'
NOT_INSTALLED = '#!/bin/sh\necho "this version is not installed" >&2; exit 127\n'
GOOD = "#!/bin/sh\nexit 0\n"


def find(checkout: Path, tmp_path: Path, pythons: dict[str, str], **environ: str) -> Any:
    """Run the script where only these programs exist under these names."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in pythons.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run(
        [shell, str(checkout / ".ci" / "find-python")],
        env={"PATH": str(programs), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3": GOOD, "python3.12": GOOD}, "python3"),
        ({"python3": OLD, "python3.12": GOOD}, "python3.12"),
        ({"python3": OLD, "python3.13": NOT_INSTALLED, "python3.11": GOOD}, "python3.11"),
        ({"python3": WITHOUT_VENV, "python3.12": GOOD}, "python3.12"),
        ({"python3.14": GOOD}, "python3.14"),
    ],
)
def test_the_first_python_that_can_do_it_is_taken(
    checkout: Path, tmp_path: Path, pythons: dict[str, str], taken: str
) -> None:
    """An old python3, a version manager's empty stand-in or a missing venv module do not stop the set-up."""
    done = find(checkout, tmp_path, pythons)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/bin/{taken}\n", "")


@pytest.mark.parametrize(
    ("pythons", "environ", "sentence"),
    [
        ({}, {}, "Python 3.11 or newer is needed, and no python3 was found: "),
        ({"python3": OLD}, {}, "Python 3.11 or newer is needed, and python3 is 3.9: "),
        ({"python3": NOT_INSTALLED}, {}, "Python 3.11 or newer is needed, and python3 is not usable: "),
        (
            {"python3": WITHOUT_VENV},
            {},
            "python3 cannot make virtual environments: install its venv module (on Debian and Ubuntu: apt install "
            "python3.12-venv) and try again.",
        ),
        ({"python3": GOOD, "old": OLD}, {"PYTHON": "old"}, "PYTHON=old is not a Python 3.11 or newer: "),
    ],
)
def test_what_is_missing_is_one_sentence(
    checkout: Path, tmp_path: Path, pythons: dict[str, str], environ: dict[str, str], sentence: str
) -> None:
    """A person on a new machine learns what to install, and nothing else is printed."""
    done = find(checkout, tmp_path, pythons, **environ)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1


def test_the_python_of_the_tests_is_good_enough(checkout: Path, tmp_path: Path) -> None:
    """The real thing, named by PYTHON."""
    done = find(checkout, tmp_path, {}, PYTHON=sys.executable)
    assert done.stdout == f"{sys.executable}\n"


def test_ci_runs_what_developers_run(checkout: Path) -> None:
    """.ci/run is executable and calls make test."""
    run = checkout / ".ci" / "run"
    assert run.stat().st_mode & 0o111
    assert "make test" in run.read_text(encoding="utf-8")
