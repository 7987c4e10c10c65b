"""Run clients of ours against many scenarios, cheaply: every process is a fork of this one, which has all imports.

    python forked.py DIRECTORY CLIENT.py [ID ...]     one client; no ids: all scenarios
    python forked.py DIRECTORY                        lines {"client": path, "ids": [...]} from standard input

Writes a line of JSON for each scenario: {"client", "id", "failed", "verdict", "reason", "errors", "wrong", ...}. What
is run is the same as with `acp-agent harness run`: a client process that starts an agent process over two pipes,
judged by the same driver; only the start of interpreters is saved, which is most of the cost.
"""

from __future__ import annotations

import contextlib
import gc
import os
import runpy
import shlex
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import IO, Any, NoReturn

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parent))
import raw_client  # noqa: F401 - the clients import it, and have it already then

from acp_agent.harness import serve
from acp_agent.harness.catalogue import select
from acp_agent.harness.drive import Driver, agent_command
from acp_agent.harness.plan import PLAN_SCHEMA
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.scenario import Scenario
from acp_agent.protocol import schema, validation
from acp_agent.protocol.rules import RULES

TIMEOUT_S = 25.0
JOBS = 16

_REAL_POPEN = subprocess.Popen


class Forked:
    """A fork as subprocess.Popen shows a process, as far as anybody here looks at it."""

    def __init__(self, pid: int, stdin: IO[bytes] | None, stdout: IO[bytes] | None) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = None
        self.args = ["fork"]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self.returncode = 0
            else:
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.0005
        while self.poll() is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        return int(self.returncode or 0)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *problem: object) -> None:
        for pipe in (self.stdout, self.stdin):
            if pipe is not None:
                pipe.close()
        self.wait()


def leave(code: int) -> NoReturn:
    """End a fork as an interpreter ends: what is buffered is written, threads that are no daemons are awaited."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def fork_agent(scenario: Scenario, directory: Path, arguments: dict[str, Any]) -> Forked:
    """The agent of a scenario, as `acp-agent harness serve --driven` is it."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    pid = os.fork()
    if pid:
        os.close(their_in)
        os.close(their_out)
        return Forked(pid, os.fdopen(our_out, "wb"), os.fdopen(our_in, "rb"))
    code = 1
    try:
        if arguments.get("start_new_session"):
            os.setsid()
        os.dup2(their_in, 0)
        os.dup2(their_out, 1)
        if isinstance(arguments.get("stderr"), int) and arguments["stderr"] == subprocess.DEVNULL:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # As an exec closes what is not to be inherited: the client's own ends above all.
        os.closerange(3, 256)
        if arguments.get("cwd"):
            os.chdir(arguments["cwd"])
        code = serve.serve_one(scenario, directory, driven=True)
    except BaseException:  # noqa: BLE001 - nothing may leave into the client's code
        traceback.print_exc()
    leave(code)


def run_client(
    program: Path, scenario: Scenario, directory: Path, cwd: Path, env: dict[str, str]
) -> NoReturn:
    """Be the client's process."""
    os.environ.clear()
    os.environ.update(env)
    agent = agent_command(scenario, directory)

    def start(command: Any, *rest: Any, **arguments: Any) -> Any:
        # The first process of the client has no threads yet that could hold a lock in the fork.
        if isinstance(command, list) and command == agent:
            return fork_agent(scenario, directory, arguments)
        return _REAL_POPEN(command, *rest, **arguments)

    subprocess.Popen = start  # type: ignore[misc, assignment]
    sys.argv = [str(program), shlex.join(agent), scenario.prompt, str(cwd)]
    code: object = 0
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as ending:
        code = ending.code
    except BaseException:  # noqa: BLE001 - as the interpreter does it
        traceback.print_exc()
        code = 1
    leave(code if isinstance(code, int) else 0 if code is None else 1)


class ForkingDriver(Driver):
    """A driver whose clients are forks. client: the path of a program of ours."""

    def start(self, scenario: Scenario, directory: Path, cwd: Path, env: dict[str, str]) -> Any:
        our_in, their_out = os.pipe()
        pid = os.fork()
        if pid:
            os.close(their_out)
            return Forked(pid, None, os.fdopen(our_in, "rb"))
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(their_out, 1)
        os.dup2(their_out, 2)
        os.closerange(3, 256)
        run_client(Path(self.client), scenario, directory, cwd, env)


def told(program: str, result: ScenarioResult) -> dict[str, object]:
    """A result as a line of the output."""
    wrong = [
        f"{check.rule}: expected {check.expected}; saw {check.saw}"
        for outcome in result.outcomes
        for check in outcome.checks
        if not check.ok
    ]
    return {
        "client": program,
        "id": result.scenario.id,
        "failed": sorted(result.failed_rules),
        "verdict": result.verdict,
        "reason": result.reason,
        "unproven": [f"{one.rule}: {one.verdict}: {one.reason}" for one in result.outcomes if not one.checks],
        "errors": list(result.errors),
        "wrong": wrong[:20],
        "output": result.exit.output[-2000:],
        "duration_s": result.exit.duration_s,
    }


def warm_up() -> None:
    """Do once, before the forks, what each of them would do for itself."""
    for definition in schema.definitions():
        schema.is_valid(definition, {})
    schema.is_valid_document(PLAN_SCHEMA, [])
    validation.check("PromptRequest", {})
    len(RULES)
    gc.collect()
    gc.freeze()


def run(program: str, scenario: Scenario, directory: Path) -> None:
    """One run, in a fork of its own; its line goes to standard output."""
    driver = ForkingDriver(program, directory / Path(program).stem, TIMEOUT_S)
    line = orjson.dumps(told(program, driver.run_one(scenario))) + b"\n"
    os.write(1, line)  # one write, so that lines of several do not mix


def main() -> None:
    directory, *named = sys.argv[1:]
    tasks = [{"client": named[0], "ids": named[1:]}] if named else [orjson.loads(line) for line in sys.stdin]
    waiting = [(task["client"], scenario) for task in tasks for scenario in select(task["ids"])]
    warm_up()
    running: set[int] = set()
    for program, scenario in waiting:
        if len(running) >= JOBS:
            reap(running)
        pid = os.fork()
        if not pid:
            code = 1
            try:
                run(program, scenario, Path(directory))
                code = 0
            except BaseException:  # noqa: BLE001 - nothing may leave into the loop above
                traceback.print_exc()
            leave(code)
        running.add(pid)
    while running:
        reap(running)


def reap(running: set[int]) -> None:
    """Wait for one of them."""
    pid, status = os.wait()
    running.discard(pid)
    if status:
        sys.exit(f"a run ended with {status}")


if __name__ == "__main__":
    main()
