"""The agent's program as a login in a terminal: it notes how it was started, and ends as it was asked to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent.harness import login
from acp_agent.harness.part import has_begun, read_parts


@pytest.mark.parametrize(("word", "code"), [("any words", 0), (login.FAILS, 1)])
def test_a_login_leaves_a_part_and_plays_nothing(word: str, code: int, tmp_path: Path) -> None:
    """The part holds the arguments and the variable as they came; for the scenario it is no life that was played."""
    program = [
        sys.executable,
        "-m",
        "acp_agent.harness",
        "serve",
        "--driven",
        "--scenario",
        "auth/terminal-login",
    ]
    arguments = [*program, "--parts", str(tmp_path), login.OPTION, word]
    env = os.environ | {login.VARIABLE: "ü\n"}
    ended = subprocess.run(arguments, env=env, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (code, b"")
    (part,) = read_parts(tmp_path)
    assert part.notes["login"]["arguments"][-2:] == [login.OPTION, word]
    assert part.notes["login"]["variable"] == "ü\n"
    assert not has_begun([part])
