"""The driver with real processes: whatever a client's command does, it is ended, reported, and the others go on."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acp_agent.harness.catalogue import select
from acp_agent.harness.drive import Driver
from acp_agent.harness.result import NEVER_STARTED, ScenarioResult
from acp_agent.harness.verdict import Verdict

TESTS = Path(__file__).resolve().parents[1]
RAW_CLIENT = TESTS / "harness" / "raw_client.py"
BAD_CLIENT = TESTS / "bad_clients" / "permission_cancelled_misspelt.py"
SCENARIO = "permission/cancel-while-open"
WAIT_S = 30.0


def python(program: Path) -> str:
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"


def drive(command: str, directory: Path, *names: str, timeout_s: float = 60.0) -> list[ScenarioResult]:
    return Driver(command, directory, timeout_s=timeout_s).run(select(names or (SCENARIO,)))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def until(condition: object, what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_a_conforming_client_passes_and_leaves_its_record(tmp_path: Path) -> None:
    """As its author runs it, with nothing forked or replaced."""
    (result,) = drive(f"{python(RAW_CLIENT)} {{agent}} {{prompt}} {{cwd}}", tmp_path)
    assert (result.verdict, result.errors, result.exit.exit_code) == (Verdict.PASS, (), 0)
    assert result.client == {"name": "raw-client", "version": "1.0"}
    names = {path.name for path in (tmp_path / "permission-cancel-while-open").iterdir()}
    assert names == {"part-1.json", "trace-1.jsonl", "display.jsonl"}


def test_a_faulty_client_is_caught(tmp_path: Path) -> None:
    """With the message that proves it."""
    (result,) = drive(f"{python(BAD_CLIENT)} {{agent}} {{prompt}} {{cwd}}", tmp_path)
    assert (result.verdict, set(result.failed_rules)) == (Verdict.FAIL, {"R-154", "R-175", "R-177"})
    check = next(check for outcome in result.outcomes for check in outcome.checks if not check.ok)
    entry = next(entry for entry in result.parts[0].transcript if entry.number == check.at)
    assert '"canceled"' in entry.text


@pytest.mark.parametrize(
    "wrapping",
    [
        "sh -c 'exec \"$@\"' sh {client}",
        "sh -c '\"$@\"; exit $?' sh {client}",
        'env -i PATH="$PATH" {client}',
    ],
    ids=["exec", "under a shell", "without its environment"],
)
def test_a_client_may_be_wrapped(wrapping: str, tmp_path: Path) -> None:
    """A shell between us and the client changes nothing; without the plan only what needs the user is missing."""
    client = f"{python(RAW_CLIENT)} {{agent}} {{prompt}} {{cwd}}"
    (result,) = drive(wrapping.replace("{client}", client), tmp_path, "forward/unknown-request")
    assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


def test_a_client_that_starts_the_agent_under_a_shell_is_no_worse(tmp_path: Path) -> None:
    """Many do: the agent's command line is one word that any shell understands."""
    program = tmp_path / "client.py"
    program.write_text(
        "import subprocess, sys\n"
        f"sys.path.insert(0, {str(RAW_CLIENT.parent)!r})\n"
        "import raw_client\n"
        "class Client(raw_client.RawClient):\n"
        "    def start_agent(self):\n"
        "        self.agent = 'sh -c ' + raw_client.shlex.quote(self.agent)\n"
        "        super().start_agent()\n"
        "raw_client.main(Client)\n",
        encoding="utf-8",
    )
    (result,) = drive(f"{python(program)} {{agent}} {{prompt}} {{cwd}}", tmp_path / "report")
    assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("true {agent}", 0),
        ("exit 7 # {agent}", 7),
        ("/nonexistent/client {agent}", 127),
        ("kill -9 $$ # {agent}", -9),
    ],
)
def test_a_client_that_never_starts_the_agent_proves_nothing(
    command: str, exit_code: int, tmp_path: Path
) -> None:
    """Not exercised, with the exit code for whoever wonders why."""
    (result,) = drive(command, tmp_path)
    assert (result.verdict, result.reason) == (Verdict.NOT_EXERCISED, NEVER_STARTED)
    assert result.exit.exit_code == exit_code


@pytest.mark.parametrize(
    "command",
    ["sleep 3600 # {agent}", "trap '' TERM; while :; do sleep 0.1; done # {agent}"],
    ids=["sleeps", "ignores SIGTERM"],
)
def test_a_client_that_hangs_without_an_agent_is_ended(command: str, tmp_path: Path) -> None:
    """It is ended, and as it has not started the agent there is no rule to hold against it."""
    (result,) = drive(command, tmp_path, timeout_s=1.0)
    assert (result.verdict, result.exit.hung, result.exit.exit_code) == (Verdict.NOT_EXERCISED, True, None)
    assert result.failed_rules == ()


def test_a_client_that_hangs_after_its_agent_has_gone_breaks_a_rule_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    """The agent gives up on it after its time; what is left of the client is ended."""
    flag = tmp_path / "hung"
    stay = f"{python(RAW_CLIENT)} {{agent}} {{prompt}} {{cwd}}; test -e {flag} || {{ touch {flag}; sleep 3600; }}"
    results = Driver(stay, tmp_path, timeout_s=6.0, jobs=1).run(
        select(["forward/unknown-request", "forward/unknown-update"])
    )
    assert [result.failed_rules for result in results] == [("R-301",), ()]


def test_what_a_client_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    """A process in the background would write into the next run."""
    pid_file = tmp_path / "pid"
    (result,) = drive(f"sleep 3600 & echo $! > {shlex.quote(str(pid_file))}; true {{agent}}", tmp_path)
    assert result.exit.exit_code == 0
    assert not is_running(int(pid_file.read_text(encoding="utf-8")))


def test_of_a_client_that_writes_without_end_only_the_end_is_kept(tmp_path: Path) -> None:
    """Its output neither blocks it nor fills our memory."""
    (result,) = drive("yes noise | head -c 30000000; echo the end # {agent}", tmp_path)
    assert result.exit.exit_code == 0
    assert result.exit.output.endswith("noise\nthe end\n")
    assert len(result.exit.output) <= 16 * 1024


def test_quotes_and_blanks_in_the_place_of_the_report_are_no_problem(tmp_path: Path) -> None:
    """The agent's command line carries the path."""
    (result,) = drive(
        f"{python(RAW_CLIENT)} {{agent}} {{prompt}} {{cwd}}", tmp_path / 'it\'s a "report" $HOME'
    )
    assert result.verdict is Verdict.PASS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_run_ends_everything_it_has_started(number: signal.Signals, tmp_path: Path) -> None:
    """Clients, agents, and those of the clients that ignore it; the exit code says that it was interrupted."""
    pid_file = tmp_path / "pids"
    stubborn = (
        f"trap '' INT TERM; echo $$ >> {shlex.quote(str(pid_file))}; while :; do sleep 0.1; done # {{agent}}"
    )
    rest = ["--scenario", "permission", "--report", str(tmp_path / "report")]
    run = subprocess.Popen(
        [sys.executable, "-P", "-m", "acp_agent.harness", "run", "--client", stubborn, "--jobs", "2", *rest],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        until(lambda: pid_file.is_file() and len(pid_file.read_text().split()) == 2, "no client was started")
        run.send_signal(number)
        out, err = run.communicate(timeout=WAIT_S)
    finally:
        run.kill()
    assert run.returncode == 128 + number, (out, err)
    assert b"Traceback" not in err
    pids = [int(pid) for pid in pid_file.read_text(encoding="utf-8").split()]
    assert len(pids) == 2
    assert not any(is_running(pid) for pid in pids)
    assert os.path.isdir(tmp_path / "report")  # noqa: PTH112 - what there is stays
