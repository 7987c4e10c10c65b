"""The command line: its sentences and exit codes, and what each command loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent import __version__, cli

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


def run(
    cwd: Path, *arguments: str, stdin: str = "", python: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *python, "-P", "-m", "acp_agent", *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["serve", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["serve", "--config"], "expected one argument"),
        (["serve", "--", "x"], "only chat takes an agent command"),
        (["serve", "--config", "missing.toml"], "missing.toml"),
        (["chat", "--config", "missing.toml"], "missing.toml does not exist"),
        (["chat", "--config", "missing.toml", "--", "x"], "--config is for Bob"),
        (["chat", "--"], "the agent's command is expected"),
        (["chat", "--cwd", "missing"], "the directory missing does not exist"),
        (["chat", "--cwd", "file"], "file is not a directory"),
        (["chat", "--yes", "--reject"], "not allowed with argument"),
    ],
)
def test_wrong_arguments_get_one_sentence_and_exit_code_2(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "file").touch()
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.startswith("acp-agent")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "configuration",
    ["[model]\nprovider = 1\n", "nonsense", '[model]\nprovider = "scripted"\nscript = "missing.model"\n'],
)
def test_a_wrong_configuration_gets_one_sentence_and_exit_code_2(tmp_path: Path, configuration: str) -> None:
    (tmp_path / "acp-agent.toml").write_text(configuration)
    done = run(tmp_path, "serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("acp-agent: ")
    assert done.stderr.count("\n") == 1


def test_the_version_is_printed() -> None:
    done = run(Path.cwd(), "--version")
    assert (done.returncode, done.stdout) == (0, f"acp-agent {__version__}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["chat", "--help"]])
def test_help_is_printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert cli.main(arguments) == 0
    assert "usage: acp-agent" in capsys.readouterr().out


def test_serve_speaks_the_protocol_and_nothing_else_on_standard_output(tmp_path: Path) -> None:
    """R-005."""
    done = run(tmp_path, "serve", stdin=json.dumps(INITIALIZE) + "\n")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["result"]["protocolVersion"] == 1


def test_serve_takes_its_configuration_from_the_file_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[model]\nprovider = "offline"\n')
    done = run(tmp_path, "serve", "--config", "mine.toml")
    assert done.returncode == 0
    assert "mine.toml" in done.stderr


def imported(tmp_path: Path, *arguments: str, stdin: str = "") -> set[str]:
    """The modules a command imports."""
    done = run(tmp_path, *arguments, stdin=stdin, python=("-X", "importtime"))
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_serve_does_not_load_the_client(tmp_path: Path) -> None:
    """An editor waits for the start; nothing is loaded that it has no use for."""
    names = imported(tmp_path, "serve", stdin=json.dumps(INITIALIZE) + "\n")
    assert not {name for name in names if name.startswith("acp_agent.client")}
    assert "acp_agent.agent.server" in names


def test_chat_does_not_load_the_agent(tmp_path: Path) -> None:
    names = imported(tmp_path, "chat", "--once", "hello", "--json")
    assert not {
        name for name in names if name.startswith(("acp_agent.agent", "acp_agent.llm", "acp_agent.tools"))
    }
    assert "acp_agent.client.chat" in names
