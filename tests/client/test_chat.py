"""`acp-agent chat` as people and programs use it: through real processes, on a real terminal and in pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.client.chat import read_answer
from acp_agent.client.permissions import read_request

if TYPE_CHECKING:
    from conftest import PersonAtTerminal

Fake = Callable[[str], list[str]]
AtTerminal = Callable[..., "PersonAtTerminal"]

DEADLINE_S = 30


def chat(
    cwd: Path, *arguments: str, stdin: str = "", environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `acp-agent chat` in pipes to its end."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "acp_agent", "chat", *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        timeout=DEADLINE_S,
        check=False,
    )


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# -- at a terminal


def test_a_whole_turn_at_a_terminal(at_terminal: AtTerminal, fake: Fake) -> None:
    """Streamed text, a plan, a tool call, a question, a coloured diff, a recap; nothing commands the terminal."""
    person = at_terminal("chat", "--", *fake("work"))
    person.read_until("Fake 1")
    person.read_until("> ")
    person.type("go\n")
    person.read_until("hmm")
    person.read_until("I \\x1b[31mdo\\x1b[0m it.\\x9b1m")
    person.read_until("[>] first")
    person.read_until("* bash: ls")
    person.read_until("1. ok")
    person.read_until("Your choice (1-2): ")
    person.type("seven\n")
    person.read_until("number of an option")
    person.read_until("Your choice (1-2): ")
    person.type("1\n")
    person.read_until("granted (ok)")
    person.read_until("running")
    person.read_until("done")
    person.read_until("| b")
    person.read_until("\x1b[31m-two\x1b[0m")
    person.read_until("\x1b[32m+2\x1b[0m")
    person.read_until("1 command(s) · 1 file op(s) · 10 of 100 tokens")
    person.read_until("> ")
    person.type("\x04")
    assert person.exit_code() == 0


def test_no_colour_is_used_when_nobody_wants_it(at_terminal: AtTerminal, fake: Fake) -> None:
    """NO_COLOR."""
    person = at_terminal("chat", "--once", "go", "--yes", "--", *fake("work"), NO_COLOR="1")
    assert person.exit_code() == 0
    assert "+2" in person.seen
    assert "\x1b" not in person.seen


def test_ctrl_c_stops_the_turn_and_the_session_goes_on(at_terminal: AtTerminal, fake: Fake) -> None:
    """The first one in a turn cancels; one at the prompt leaves."""
    person = at_terminal("chat", "--", *fake("plain"))
    person.read_until("> ")
    person.type("cancel me\n")
    person.read_until("cancel me\r\ncancel me")
    person.type("\x03")
    person.read_until("Stopping ...")
    person.read_until("Stopped, as you asked.")
    person.read_until("> ")
    person.type("again\n")
    person.read_until("again\r\nagain")
    person.read_until("> ")
    person.type("\x03")
    assert person.exit_code() == 0


def test_a_second_ctrl_c_leaves_an_agent_that_does_not_stop(at_terminal: AtTerminal, fake: Fake) -> None:
    person = at_terminal("chat", "--", *fake("ignores_cancel"))
    person.read_until("> ")
    person.type("go\n")
    person.read_until("busy")
    person.type("\x03")
    person.read_until("still busy")
    person.type("\x03")
    assert person.exit_code() == 130


def test_ctrl_c_at_a_question_stops_the_turn(at_terminal: AtTerminal, fake: Fake) -> None:
    """R-154: the question goes, its answer is `cancelled`, and typing belongs to the prompt again."""
    person = at_terminal("chat", "--", *fake("cancel_with_permissions"))
    person.read_until("> ")
    person.type("go\n")
    person.read_until("Your choice (1-2): ")
    person.type("\x03")
    person.read_until("cancelled")
    person.read_until("not answered, the turn was stopped")
    person.read_until("Stopped, as you asked.")
    person.read_until("> ")
    person.type("\x04")
    assert person.exit_code() == 0


def test_an_agent_that_dies_at_a_question_is_told_at_once(at_terminal: AtTerminal, fake: Fake) -> None:
    """B034, R-301: nobody has to answer first."""
    person = at_terminal("chat", "--", *fake("dies_with_permission_open"))
    person.read_until("> ")
    person.type("go\n")
    person.read_until("was ended by SIGKILL")
    person.read_until("> ")
    person.type("\x04")
    assert person.exit_code() == 0


# -- in pipes


def test_prompts_and_answers_can_come_from_a_pipe(tmp_path: Path, fake: Fake) -> None:
    done = chat(tmp_path, "--", *fake("work"), stdin="go\n1\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "permission: granted (ok)" in done.stdout
    assert "1 command(s) · 1 file op(s)" in done.stdout


def test_nobody_at_a_question_is_a_refusal(tmp_path: Path, fake: Fake) -> None:
    """B026: said with the option that refuses; the turn goes on to its end."""
    done = chat(tmp_path, "--once", "go", "--", *fake("work"))
    assert done.returncode == 1
    assert "Nobody is there to answer: refused." in done.stdout
    assert "permission: refused (no)" in done.stdout
    assert "The agent refuses to go on" in done.stdout


@pytest.mark.parametrize(("option", "code"), [("--yes", 0), ("--reject", 1)])
def test_once_says_by_its_exit_code_how_the_turn_ended(
    tmp_path: Path, fake: Fake, option: str, code: int
) -> None:
    done = chat(tmp_path, "--once", "go", option, "--", *fake("work"))
    assert done.returncode == code
    assert ("granted" if code == 0 else "refused") in done.stdout
    assert "Your choice" not in done.stdout


def test_json_is_one_event_a_line(tmp_path: Path, fake: Fake) -> None:
    done = chat(tmp_path, "--json", "--", *fake("work"), stdin="go\nno\n")
    kinds = [event["event"] for event in events(done.stdout)]
    assert kinds[0] == "session"
    assert kinds[-1] == "end"
    assert kinds.index("permission") < kinds.index("permission_answer")
    answer = next(event for event in events(done.stdout) if event["event"] == "permission_answer")
    assert answer["optionId"] == "no"
    assert events(done.stdout)[-1]["stopReason"] == "refusal"


def test_a_dead_agent_is_started_anew_for_the_next_prompt(tmp_path: Path, fake: Fake) -> None:
    """B074."""
    done = chat(tmp_path, "--", *fake("dies_in_turn"), stdin="one\ntwo\n")
    assert done.stdout.count("half an ans\n") == 2
    assert done.stdout.count("exit code 7") == 2
    assert "Starting the agent anew" in done.stdout


@pytest.mark.parametrize(
    ("conduct", "told"),
    [
        ("dies_at_once", "exit code 3"),
        ("version_99", "speaks version 99"),
    ],
)
def test_an_agent_that_can_t_be_talked_to_is_a_failure(
    tmp_path: Path, fake: Fake, conduct: str, told: str
) -> None:
    """R-029, R-301; with the last words of the agent."""
    done = chat(tmp_path, "--once", "go", "--", *fake(conduct))
    assert done.returncode == 1
    assert told in done.stdout
    assert ("no such model: banana" in done.stdout) == (conduct == "dies_at_once")
    assert done.stderr == ""


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = chat(tmp_path, "--once", "go", "--", "no-such-agent")
    assert (done.returncode, done.stdout) == (1, "Error: the agent's program 'no-such-agent' was not found\n")


def test_a_login_that_is_needed_is_told_with_the_ways_there_are(tmp_path: Path, fake: Fake) -> None:
    """R-043: no retry, no hang."""
    done = chat(tmp_path, "--once", "go", "--", *fake("wants_login"))
    assert done.returncode == 1
    assert "(code -32000)" in done.stdout
    assert "It offers: By card." in done.stdout


def test_an_error_of_the_agent_is_told_with_its_data(tmp_path: Path, fake: Fake) -> None:
    """B086."""
    done = chat(tmp_path, "--json", "--", *fake("error_with_data"), stdin="one\ntwo\n")
    told = events(done.stdout)
    assert told[1] == {"event": "error", "text": "Internal error (code -32603): no key", "stderr": ""}
    assert told[2]["stopReason"] == "end_turn"


def test_who_stops_reading_is_not_complained_to(tmp_path: Path, fake: Fake) -> None:
    """As in `acp-agent chat --once ... | head -1`."""
    command = [sys.executable, "-P", "-m", "acp_agent", "chat", "--once", "go", "--yes", "--", *fake("burst")]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(DEADLINE_S) == 1


def test_an_output_that_takes_nothing_is_told(tmp_path: Path, fake: Fake) -> None:
    """A full disk, say; here a file that may not grow."""
    command = [
        sys.executable,
        "-B",
        "-P",
        "-m",
        "acp_agent",
        "chat",
        "--once",
        "go",
        "--yes",
        "--",
        *fake("work"),
    ]
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=DEADLINE_S,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"acp-agent: the output can't be written: File too large\n"


def test_without_an_input_there_is_nobody_to_ask(tmp_path: Path, fake: Fake) -> None:
    command = [sys.executable, "-P", "-m", "acp_agent", "chat", "--", *fake("work")]
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" <&-', *command], capture_output=True, timeout=DEADLINE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_sigterm_ends_the_agent_too(tmp_path: Path, fake: Fake) -> None:
    """R-307."""
    command = [sys.executable, "-P", "-m", "acp_agent", "chat", "--json", "--", *fake("plain")]
    environ = {**os.environ, "FAKE_AGENT_LOG": str(tmp_path / "sent.log")}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=environ
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert json.loads(process.stdout.readline())["event"] == "session"
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_S) == 128 + signal.SIGTERM
    process.stdin.close()
    process.stdout.close()
    assert (tmp_path / "sent.log").read_bytes().endswith(b'"EOF"\n')


# -- with Bob


def test_bob_answers_runs_and_writes(tmp_path: Path) -> None:
    """The default agent, on its built-in model."""
    prompts = 'hello\nrun echo "$((40 + 2))"\n1\nwrite f.txt: text\nAllow\n'
    done = chat(tmp_path, stdin=prompts)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Bob (bash-first agent) 0.11.0\n")
    assert "  | 42\n" in done.stdout
    assert "  +++ f.txt\n" in done.stdout
    assert done.stdout.count("1 command(s) · 0 file op(s)") == 1
    assert done.stdout.count("0 command(s) · 1 file op(s)") == 1
    assert (tmp_path / "f.txt").read_text() == "text"


def test_bob_stops_a_command_at_ctrl_c(at_terminal: AtTerminal) -> None:
    person = at_terminal("chat", "--yes")
    person.read_until("> ")
    person.type("run sleep 60\n")
    person.read_until("running")
    person.type("\x03")
    person.read_until("Stopped, as you asked.")
    person.read_until("> ")
    person.type("\x04")
    assert person.exit_code() == 0


def test_the_project_s_own_files_do_not_stand_in_for_python_s(tmp_path: Path) -> None:
    """The agent's working directory is not on its import path."""
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')\n")
    (tmp_path / "acp_agent.py").write_text("raise SystemExit('shadowed')\n")
    assert chat(tmp_path, "--once", "hello").returncode == 0


def test_a_configuration_that_is_wrong_is_told_by_bob_s_own_words(tmp_path: Path) -> None:
    (tmp_path / "acp-agent.toml").write_text("[model]\nprovider = 1\n")
    done = chat(tmp_path, "--once", "hello")
    assert done.returncode == 1
    assert "exit code 2" in done.stdout
    assert "provider" in done.stdout


# -- pieces


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        ("1", "y"),
        (" 2 ", "n"),
        ("n", "n"),
        ("Yes", "y"),
        ("0", None),
        ("3", None),
        ("", None),
        ("²", None),
        ("YES", None),
    ],
)
def test_an_answer_is_a_number_an_id_or_a_name(line: str, choice: str | None) -> None:
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    request = read_request({"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": options})
    assert read_answer(request, line) == choice
