"""Commands run to their end: bounded output, timeouts, cancels, and nobody left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from acp_agent.process import CannotStart, Outcome, end_all, end_lingering, run
from acp_agent.process import run as run_function
from acp_agent.process.sessions import entry

T = TypeVar("T")
run_module: Any = sys.modules[run_function.__module__]


def is_alive(pid: int) -> bool:
    found = entry(pid)
    return found is not None and not found.is_dead


def until(condition: Callable[[], bool], what: str) -> None:
    """Poll with a deadline far beyond what is expected; the deadline is a failure, not a measure."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def gone(*pids: int) -> None:
    for pid in pids:
        until(lambda pid=pid: not is_alive(pid), f"process {pid} still runs")


def in_loop(work: Callable[[], Awaitable[T]]) -> T:
    async def main() -> T:
        try:
            return await asyncio.wait_for(work(), 60)
        finally:
            await end_all()

    return asyncio.run(main())


def bash(
    command: str, *, cwd: Path = Path("/"), timeout_s: float | None = 30, limit: int = 10_000, **env: str
) -> Awaitable[Outcome]:
    return run(
        ["bash", "-c", command],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **env},
        timeout_s=timeout_s,
        max_output_bytes=limit,
    )


def finished(command: str, **options: Any) -> Outcome:
    return in_loop(lambda: bash(command, **options))


async def pid_in(path: Path) -> int:
    """The pid a command writes, once it is complete (its line break is there)."""
    await asyncio.to_thread(until, lambda: path.exists() and path.read_text().endswith("\n"), f"no {path}")
    return int(path.read_text())  # noqa: ASYNC240


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def no_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that refuses pidfd_open: the exit is noticed by a thread."""

    def refuse(pid: int) -> int:
        raise PermissionError(pid)

    monkeypatch.setattr(os, "pidfd_open", refuse)


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    """Never a zombie, never a leaked descriptor: afterwards we have no child and the same descriptors."""
    before = open_descriptors()
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert open_descriptors() <= before
    assert not run_module._running
    assert not run_module._lingering


def test_both_streams_arrive_in_the_order_written() -> None:
    """Tool conduct: stdout and stderr interleaved."""
    outcome = finished("echo one; echo two >&2; echo three")
    assert outcome == Outcome("one\ntwo\nthree\n", 0, 0, None, timed_out=False, leaves_behind=False)


@pytest.mark.parametrize(
    "command",
    ["cat", 'read x; echo "got <$x>"', f"{sys.executable} -c 'input()' 2>/dev/null", 'echo "a <b" && cat'],
)
def test_a_command_that_reads_input_ends_at_once(command: str) -> None:
    """B301, B302: stdin is /dev/null, whatever the text of the command."""
    outcome = finished(command)
    assert not outcome.timed_out
    assert outcome.signal_name is None


def test_a_child_sees_no_descriptor_but_its_own_three() -> None:
    """Children never inherit the protocol's descriptors, not even inheritable ones."""
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        outcome = finished("ls -l /proc/$$/fd; true")
    finally:
        os.close(read_end)
        os.close(write_end)
    seen = [line.split()[-3] for line in outcome.output.splitlines() if "->" in line]
    assert seen == ["0", "1", "2"]
    assert "/dev/null" in outcome.output


def test_the_child_runs_in_the_directory_and_environment_given(tmp_path: Path) -> None:
    """Directory and environment are the caller's, nothing of ours shines through."""
    outcome = finished("pwd; echo $COLOUR; env | grep -c SECRET", cwd=tmp_path, COLOUR="green")
    assert outcome.output == f"{tmp_path}\ngreen\n0\n"


def test_exit_codes_and_signals_are_told() -> None:
    """Exit code told; exit by signal told."""
    assert finished("exit 3").exit_code == 3
    outcome = finished("echo before; kill -SEGV $$")
    assert (outcome.output, outcome.exit_code, outcome.signal_name) == ("before\n", None, "SIGSEGV")
    assert finished(f"kill -{signal.SIGRTMIN + 2} $$").signal_name == f"signal {signal.SIGRTMIN + 2}"


@pytest.mark.parametrize("command", ["yes | head -c 500M", "head -c 50M /dev/zero | tr '\\0' x; echo"])
def test_endless_output_is_bounded_while_it_is_produced(command: str) -> None:
    """B307: memory bounded, head, tail and a note; also one line of 50 MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = finished(command)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 20_000
    assert len(outcome.output.encode()) <= 10_000 + 60
    assert outcome.left_out_bytes > 50_000_000 - 10_001
    assert f"[... {outcome.left_out_bytes} bytes left out ...]" in outcome.output
    assert outcome.exit_code == 0


@pytest.mark.parametrize(
    "command", ["head -c 100000 /dev/urandom", "printf 'a\\0b'", "printf '\\355\\240\\200'"]
)
def test_binary_output_becomes_valid_text(command: str) -> None:
    """B309: undecodable bytes become U+FFFD, NUL stays, no surrogate can appear."""
    outcome = finished(command)
    assert len(outcome.output.encode("utf-8")) <= 10_060
    if "a\\0b" in command:
        assert outcome.output == "a\0b"


def test_a_timeout_ends_everything_and_keeps_what_was_written(tmp_path: Path) -> None:
    """A timeout ends the group: the shell, its children, theirs."""
    outcome = finished("echo $$; (sleep 600 & echo $!; wait) & sleep 600", timeout_s=1)
    assert outcome.timed_out
    shell, inner = map(int, outcome.output.split())
    gone(shell, inner)


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """B306: SIGTERM, grace, SIGKILL."""
    outcome = finished('trap "" TERM; echo $$; while :; do sleep 600; done', timeout_s=1)
    assert (outcome.timed_out, outcome.signal_name) == (True, "SIGKILL")
    gone(int(outcome.output))


def test_sigterm_gives_a_child_the_time_to_clean_up() -> None:
    """Grace: what a handler of SIGTERM writes is still in the output."""
    outcome = finished('trap "echo cleaned; exit 7" TERM; echo ready; sleep 600 & wait', timeout_s=1)
    assert outcome.timed_out
    assert outcome.output == "ready\ncleaned\n"
    assert outcome.exit_code == 7


@pytest.mark.parametrize(
    "command",
    [
        "trap \"\" TERM; setsid sh -c 'echo $$ > pid; exec sleep 600'; true",
        'trap "" TERM; setsid sh -c \'setsid sh -c "echo \\$\\$ > pid; sleep 600; true"; true\'; true',
        "set -m; sh -c 'echo $$ > pid; exec sleep 600'",
    ],
)
def test_a_timeout_reaches_children_that_left_the_group(command: str, tmp_path: Path) -> None:
    """B306: also a child in its own session, or in a group of its own, while its parents live."""
    outcome = finished(command, timeout_s=1, cwd=tmp_path)
    assert outcome.timed_out
    gone(int((tmp_path / "pid").read_text()))


def test_a_background_child_does_not_hold_up_the_result_nor_outlive_the_turn(tmp_path: Path) -> None:
    """B304: `sleep 60 & echo done` returns with "done"; the child lives until the turn ends."""

    async def work() -> None:
        outcome = await bash("sleep 600 & echo $! > pid; echo done", cwd=tmp_path)
        assert (outcome.output, outcome.exit_code, outcome.leaves_behind) == ("done\n", 0, True)
        child = await pid_in(tmp_path / "pid")
        assert is_alive(child)
        await end_lingering()
        assert not is_alive(child)
        await end_lingering()

    in_loop(work)


@pytest.mark.parametrize(
    "command",
    [
        "nohup sleep 600 >/dev/null 2>&1 & echo $! > pid",
        "sleep 600 & echo $! > pid; disown -a",
        "set -m; sleep 600 >/dev/null 2>&1 & echo $! > pid",
    ],
)
def test_nohup_disown_and_job_control_are_not_detaching(command: str, tmp_path: Path) -> None:
    """Decision: only setsid detaches."""

    async def work() -> None:
        outcome = await bash(command, cwd=tmp_path)
        assert outcome.leaves_behind
        child = await pid_in(tmp_path / "pid")
        await end_lingering()
        assert not is_alive(child)

    in_loop(work)


def test_a_child_detached_with_setsid_outlives_the_turn(tmp_path: Path) -> None:
    """Decision: `setsid COMMAND &` is detached on purpose."""

    async def work() -> int:
        outcome = await bash(
            "setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 & until [ -s pid ]; do sleep 0.01; done",
            cwd=tmp_path,
        )
        assert not outcome.leaves_behind
        child = await pid_in(tmp_path / "pid")
        await end_lingering()
        return child

    child = in_loop(work)
    try:
        assert is_alive(child)
    finally:
        os.kill(child, signal.SIGKILL)
    gone(child)


def test_a_lingering_child_can_go_on_writing(tmp_path: Path) -> None:
    """A server started by one command serves the next: its output is read and dropped, it gets no SIGPIPE."""

    async def work() -> None:
        await bash("(while :; do echo tick; done) & echo $! > pid", cwd=tmp_path)
        child = await pid_in(tmp_path / "pid")
        await bash("sleep 0.2")
        assert is_alive(child)
        await end_lingering()
        assert not is_alive(child)

    in_loop(work)


def test_output_of_the_command_itself_is_never_lost_behind_a_busy_background_child() -> None:
    """B304: what the shell wrote before it exited is in the result."""
    outcome = finished(
        "echo first; sleep 600 & head -c 60000 /dev/zero | tr '\\0' x; echo last", limit=100_000
    )
    assert outcome.output.startswith("first\n")
    assert outcome.output.endswith("xlast\n")
    assert outcome.left_out_bytes == 0


def test_a_cancel_ends_the_group_and_goes_on(tmp_path: Path) -> None:
    """run() cancelled: the group is ended, then CancelledError is raised."""

    async def work() -> None:
        task = asyncio.ensure_future(bash("sleep 600 & echo $! > pid; wait", cwd=tmp_path))
        child = await pid_in(tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_alive(child)

    in_loop(work)


def test_a_cancel_is_read_while_a_child_writes_without_end(tmp_path: Path) -> None:
    """High-rate output does not starve the loop: other callbacks run, and the cancel acts."""

    async def work() -> None:
        task = asyncio.ensure_future(bash("echo $$ > pid; exec yes", cwd=tmp_path))
        child = await pid_in(tmp_path / "pid")
        for _ in range(300):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_alive(child)

    in_loop(work)


def test_a_second_cancel_stops_the_waiting_but_not_the_ending(tmp_path: Path) -> None:
    """Ending is its own bounded task that a cancelled caller cannot cut short."""

    async def work() -> None:
        task = asyncio.ensure_future(
            bash('trap "" TERM; echo $$ > pid; while :; do sleep 600; done', cwd=tmp_path)
        )
        child = await pid_in(tmp_path / "pid")
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert is_alive(child)
        await end_all()
        assert not is_alive(child)

    in_loop(work)


def test_end_all_ends_running_and_lingering_children_together(tmp_path: Path) -> None:
    """For the exit of the program: every child, also the stubborn ones."""

    async def work() -> None:
        await bash("sleep 600 & echo $! > one", cwd=tmp_path)
        stubborn = asyncio.ensure_future(
            bash('trap "" TERM; echo $$ > two; while :; do sleep 600; done', cwd=tmp_path)
        )
        pids = [await pid_in(tmp_path / name) for name in ("one", "two")]
        await end_all()
        assert [is_alive(pid) for pid in pids] == [False, False]
        outcome = await stubborn
        assert (outcome.signal_name, outcome.timed_out) == ("SIGKILL", False)

    in_loop(work)


def test_a_loop_that_closes_early_leaves_no_child(tmp_path: Path) -> None:
    """The last resort: asyncio.run cancels the ending itself, and the child is killed all the same."""
    pids = []

    async def main() -> None:
        task = asyncio.ensure_future(
            bash('trap "" TERM; echo $$ > pid; while :; do sleep 600; done', cwd=tmp_path)
        )
        pids.append(await pid_in(tmp_path / "pid"))
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(main())
    gone(*pids)


def test_what_cannot_be_started_is_one_sentence(tmp_path: Path) -> None:
    """Bad input: a missing directory, a missing program, no room, a NUL."""
    cases: list[tuple[list[str], Path, str]] = [
        (["bash", "-c", "true"], tmp_path / "absent", "the working directory .* does not exist"),
        (["no-such-program-here"], tmp_path, "no-such-program-here was not found on the PATH"),
        ([str(tmp_path)], tmp_path, "cannot be started: Permission denied"),
        (["bash", "-c", "x" * 300_000], tmp_path, "longer than the system allows"),
        (["bash", "-c", "a\0b"], tmp_path, "a character no program can be given"),
        (["bash", "-c", "a\ud800b"], tmp_path, "a character no program can be given"),
    ]
    for argv, cwd, sentence in cases:
        with pytest.raises(CannotStart, match=sentence):
            in_loop(
                lambda argv=argv, cwd=cwd: run(
                    argv, cwd=cwd, env=dict(os.environ), timeout_s=5, max_output_bytes=100
                )
            )


def test_without_proc_the_group_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems without /proc: the leader's process group is what can be seen."""
    monkeypatch.setattr("acp_agent.process.sessions._PROC", str(tmp_path / "absent"))

    async def work() -> list[int]:
        outcome = await bash('trap "" TERM; echo $$; sleep 600', timeout_s=1)
        assert outcome.timed_out
        background = await bash("sleep 600 & echo $!")
        assert background.leaves_behind
        await end_lingering()
        assert not (await bash("true")).leaves_behind
        return [int(outcome.output), int(background.output)]

    pids = in_loop(work)
    monkeypatch.undo()
    with contextlib.suppress(ProcessLookupError):
        gone(*pids)


@pytest.mark.usefixtures("no_pidfd")
def test_without_pidfd_a_thread_notices_the_exit(tmp_path: Path) -> None:
    """Old kernels, sandboxes and macOS: the same exits, signals, timeouts, cancels and early closing."""
    assert finished("exit 3").exit_code == 3
    assert finished("kill -SEGV $$").signal_name == "SIGSEGV"
    assert finished("echo $$; sleep 600", timeout_s=1).timed_out
    test_a_cancel_ends_the_group_and_goes_on(tmp_path)
    (tmp_path / "pid").unlink()
    test_a_loop_that_closes_early_leaves_no_child(tmp_path)
