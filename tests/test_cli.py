"""The command line: its sentences and exit codes, and what each command loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from acp_agent import __version__, cli, config
from acp_agent.agent.store import SessionStore

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


def run(
    cwd: Path,
    *arguments: str,
    stdin: str = "",
    python: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *python, "-P", "-m", "acp_agent", *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **(environ or {})},
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
        (["doctor", "--", "x"], "only chat takes an agent command"),
        (["init", "--output", "."], "is a directory"),
        (["sessions"], "the following arguments are required: ACTION"),
        (["sessions", "show"], "the following arguments are required: ID"),
        (["sessions", "frobnicate"], "invalid choice: 'frobnicate'"),
        (["sessions", "list", "--cwd", "missing"], "the directory missing does not exist"),
        (["sessions", "list", "--cwd", "file"], "file is not a directory"),
        (["sessions", "list", "--config", "missing.toml"], "missing.toml"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        *([command, "--help"] for command in ("serve", "chat", "init", "doctor", "sessions")),
        *(["sessions", action, "--help"] for action in ("list", "show", "export", "delete")),
    ],
)
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


# -- the commands for a person


ID = "20260822-093000-0123abcd"


def keep_session(cwd: Path, *texts: str) -> None:
    store = SessionStore(".acp-agent/sessions")
    messages: list[dict[str, object]] = [{"role": "user", "content": text} for text in texts]
    store.save(ID, cwd, messages, datetime(2026, 8, 22, 9, 30, tzinfo=UTC))
    store.close()


def test_doctor_checks_what_serve_would_use(tmp_path: Path) -> None:
    """The configuration, the model, the skills, the sessions; what is to do shows in the exit code."""
    (tmp_path / "skills" / "broken").mkdir(parents=True)
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("no front matter")
    (tmp_path / "mine.toml").write_text("[sessions]\nenabled = true\n[skills]\ndirs = ['skills']\n")
    done = run(tmp_path, "doctor", "--config", "mine.toml")
    assert (done.returncode, done.stderr) == (1, "")
    lines = [line[:24].rstrip() for line in done.stdout.splitlines()]
    assert lines == [
        "ok       configuration",
        "skipped  model server",
        "to do    skills",
        "ok       sessions",
    ]
    assert "mine.toml" in done.stdout


def test_init_looks_for_a_model_and_writes_the_file_that_doctor_checks(tmp_path: Path) -> None:
    """Without anybody to ask, over a real connection."""

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = json.dumps({"object": "list", "data": [{"id": "qwen3:8b", "object": "model"}]}).encode()
            self.send_response_only(200 if self.path == "/v1/models" else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        asked = ("init", "--yes", "--model", "qwen3:8b", "--output", "mine.toml")
        done = run(tmp_path, *asked, environ={"OPENAI_BASE_URL": url})
        again = run(tmp_path, *asked, environ={"OPENAI_BASE_URL": url})
        server.shutdown()
        thread.join()
    assert (done.returncode, done.stderr) == (0, "")
    assert f"qwen3:8b at {url}" in done.stdout
    assert "agent_servers" in done.stdout
    settings = config.read(tmp_path / "mine.toml")
    assert (settings.model.base_url, settings.model.name) == (url, "qwen3:8b")
    assert (again.returncode, again.stdout) == (2, "")
    assert "mine.toml exists already; add --force to replace it" in again.stderr


def test_what_a_chat_has_stored_can_be_listed_shown_exported_and_deleted(tmp_path: Path) -> None:
    """From one process to the next, as a person does it."""
    (tmp_path / "acp-agent.toml").write_text("[sessions]\nenabled = true\n")
    assert run(tmp_path, "chat", "--yes", "--once", "run echo Grüße, 日本").returncode == 0
    listed = run(tmp_path, "sessions", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    session_id, _, _, messages, title = listed.stdout.rstrip("\n").split(maxsplit=4)
    assert (messages, title) == ("4", "run echo Grüße, 日本")
    shown = run(tmp_path, "sessions", "show", session_id)
    assert "\n* bash: echo Grüße, 日本\n  | Grüße, 日本\n" in shown.stdout
    exported = run(tmp_path, "sessions", "export", session_id, "--output", "talk.md")
    assert exported.stdout == "Wrote talk.md\n"
    assert (tmp_path / "talk.md").read_text(encoding="utf-8").startswith("# run echo Grüße, 日本\n")
    kept = run(tmp_path, "sessions", "delete", session_id)
    assert kept.returncode == 1
    assert kept.stdout.endswith("? [y/N] \nNothing was deleted.\n")
    deleted = run(tmp_path, "sessions", "delete", session_id, stdin="y\n")
    assert (deleted.returncode, deleted.stderr) == (0, "")
    assert run(tmp_path, "sessions", "list").stdout == ""


def test_sessions_of_another_directory_are_read_with_its_configuration(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "acp-agent.toml").write_text("[sessions]\ndir = '.acp-agent/sessions'\n")
    keep_session(project, "Hello")
    assert ID in run(tmp_path, "sessions", "list", "--cwd", "project").stdout
    assert run(tmp_path, "sessions", "show", ID).returncode == 1


@pytest.mark.parametrize("command", [["list"], ["show", ID], ["export", ID]])
def test_a_reader_that_stops_reading_is_no_failure(tmp_path: Path, command: list[str]) -> None:
    """As `head` does."""
    keep_session(tmp_path, "line\n" * 200_000)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "acp_agent", "sessions", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (0, b"")


@pytest.mark.parametrize("command", [["sessions", "show", ID], ["doctor"]])
def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path: Path, command: list[str]) -> None:
    keep_session(tmp_path, "Hello")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "acp_agent", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=tmp_path,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "acp-agent: the output can't be written: No space left on device\n"


def test_a_terminal_that_is_not_utf_8_is_no_reason_to_stop(tmp_path: Path) -> None:
    """An export is UTF-8 all the same: it goes into a file."""
    keep_session(tmp_path, "日本")
    for action, said in (("list", b"??"), ("show", b"> ??"), ("export", "> 日本".encode())):
        done = subprocess.run(
            [
                sys.executable,
                "-P",
                "-m",
                "acp_agent",
                "sessions",
                action,
                *([] if action == "list" else [ID]),
            ],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            cwd=tmp_path,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert said in done.stdout


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        ("<&-", 1, f'Delete session {ID}, 1 message, "Hello"? [y/N] \nNothing was deleted.\n'),
        ("<&- 2>&-", 1, f'Delete session {ID}, 1 message, "Hello"? [y/N] \nNothing was deleted.\n'),
        (">&-", 2, "acp-agent: standard output is closed: there is nowhere to write to\n"),
        (">&- 2>&-", 2, ""),
    ],
)
def test_closed_descriptors_are_no_crash(tmp_path: Path, closed: str, code: int, said: str) -> None:
    keep_session(tmp_path, "Hello")
    done = subprocess.run(
        ["bash", "-c", f'"$0" -P -m acp_agent sessions delete {ID} {closed}', sys.executable],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (code, said)


@pytest.mark.parametrize("arguments", [["serve"], ["chat"], ["init"], ["doctor"], ["sessions", "list"]])
def test_a_working_directory_that_is_gone_is_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["bash", "-c", 'rmdir "$PWD"; exec "$0" -P -m acp_agent "$@"', sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=gone,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not exist" in done.stderr
    assert done.stderr.count("\n") == 1


# -- what a command loads


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
