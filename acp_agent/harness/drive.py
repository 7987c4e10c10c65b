"""Run a client once for each scenario, without a person: start it, wait, end what hangs, judge.

Owns the client's process and the directory of each run. Deliberately absent: what the client is given (plan.py), the
agent it starts (serve.py), the verdict (result.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import IO, Final

from acp_agent.harness.display import read_display
from acp_agent.harness.part import agent_runs, read_parts
from acp_agent.harness.plan import command_line, environment
from acp_agent.harness.result import ClientExit, ScenarioResult, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.process import end_session

DEFAULT_TIMEOUT_S: Final = 90.0
LINGER_S: Final = 20.0
"""How long a client may stay when its last agent has gone, though its time is up."""

LEAVES_S: Final = 30.0
"""How long an agent takes at most to go when its script is over."""

_OUTPUT_TAIL_BYTES: Final = 16 * 1024
_PARTS_S: Final = 20.0
_POLL_S: Final = 0.05


class Driver:
    """How clients are run. client: the shell command with placeholders. directory: for what each run leaves.

    timeout_s: for the whole of one client process, and longer only as long as its agent runs, which ends by itself: a
    slow machine is no fault of the client. jobs: how many run at once.
    """

    def __init__(
        self, client: str, directory: Path, timeout_s: float = DEFAULT_TIMEOUT_S, jobs: int = 2
    ) -> None:
        self.client = client
        self.directory = directory
        self.timeout_s = timeout_s
        self.jobs = jobs
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(
        self, scenarios: Sequence[Scenario], on_result: Callable[[ScenarioResult], None] = lambda result: None
    ) -> list[ScenarioResult]:
        """All of them, `jobs` at a time; results in the order of the scenarios, on_result as they come.

        Whatever ends it early, Ctrl-C too, ends the clients that are running.
        """
        results: dict[str, ScenarioResult] = {}
        with ThreadPoolExecutor(max_workers=max(1, self.jobs)) as pool:
            running = [pool.submit(self.run_one, scenario) for scenario in scenarios]
            try:
                for done in as_completed(running):
                    result = done.result()
                    results[result.scenario.id] = result
                    on_result(result)
            except BaseException:
                for future in running:
                    future.cancel()
                self.stop()
                raise
        return [results[scenario.id] for scenario in scenarios]

    def stop(self) -> None:
        """End every client that is running; none is started any more."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _end(process)

    def run_one(self, scenario: Scenario) -> ScenarioResult:
        """Run the client for one scenario and judge what came of it."""
        directory = (self.directory / scenario.command).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        display = directory / "display.jsonl"
        for leftover in (*directory.glob("part-*"), *directory.glob("trace-*"), display):
            leftover.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="acp-harness-", ignore_cleanup_errors=True) as project:
            env = environment(os.environ, plan=scenario.user, display=display)
            ending = self._run_client(scenario, directory, Path(project).resolve(), env)
        return judge(scenario, read_parts(directory), ending, read_display(display))

    def start(
        self, scenario: Scenario, directory: Path, cwd: Path, env: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start the client in a session of its own, its output to a pipe. directory: for the agent's parts."""
        agent = agent_command(scenario, directory)
        return subprocess.Popen(
            ["/bin/sh", "-c", command_line(self.client, agent=agent, prompt=scenario.prompt, cwd=cwd)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _run_client(self, scenario: Scenario, directory: Path, cwd: Path, env: dict[str, str]) -> ClientExit:
        started = time.monotonic()
        with self._lock:
            if self._stopped:
                return ClientExit()
            process = self.start(scenario, directory, cwd, env)
            self._running.add(process)
        tail = _Tail(process.stdout)
        hung = cut_off = False
        try:
            hung = not self._ends(process, scenario, directory)
            cut_off = hung and agent_runs(directory)
        finally:
            with self._lock:
                self._running.discard(process)
            if not hung and not self._stopped:
                _await_agents(directory)
            _end(process)
        exit_code = None if hung else process.returncode
        duration_s = round(time.monotonic() - started, 3)
        return ClientExit(exit_code, hung, tail.text(), duration_s, cut_off)

    def _ends(self, process: subprocess.Popen[bytes], scenario: Scenario, directory: Path) -> bool:
        """Wait for the client to end; whether it does, long after its last agent if need be."""
        if _ends_within(process, self.timeout_s):
            return True
        linger_s = min(self.timeout_s, LINGER_S)
        limit = time.monotonic() + scenario.deadline_s + LEAVES_S
        while agent_runs(directory) and time.monotonic() < limit:
            if _ends_within(process, linger_s):
                return True
        # The last agent may have gone just now.
        return bool(read_parts(directory)) and _ends_within(process, linger_s)


def agent_command(scenario: Scenario, directory: Path) -> list[str]:
    """The command line that makes the harness the agent of one scenario."""
    # -P: the client's directory must not stand in for modules of Python.
    program = [sys.executable, "-P", "-m", "acp_agent.harness", "serve", "--driven"]
    return [*program, "--scenario", scenario.id, "--parts", str(directory)]


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _await_agents(directory: Path) -> None:
    """Let the agents of a client that has ended write down what they saw."""
    deadline = time.monotonic() + _PARTS_S
    while agent_runs(directory) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the client's session: the client if it is still there, and whatever it has left behind."""
    reaped = process.poll() is not None
    asyncio.run(end_session(process.pid, leader_reaped=reaped))
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)


class _Tail:
    """The end of what a process writes, read all the time so that it never blocks."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What there is; whoever still holds the pipe is not waited for."""
        self._thread.join(0.5)
        return self._kept.decode("utf-8", "replace")

    def _read(self, pipe: IO[bytes] | None) -> None:
        if pipe is None:
            return
        with contextlib.suppress(OSError, ValueError), pipe:
            while data := os.read(pipe.fileno(), 65536):
                self._kept = (self._kept + data)[-_OUTPUT_TAIL_BYTES:]


def failures(results: Iterable[ScenarioResult]) -> dict[str, tuple[str, ...]]:
    """Scenario id -> the rules it found broken, for those that found any."""
    return {result.scenario.id: result.failed_rules for result in results if result.failed_rules}
