"""Who is in a session, and that only those are ended."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agent.process import end_session
from acp_agent.process.sessions import entry, process_table, session_is_alive


def stat_line(pid: int, name: str, state: str, parent: int, session: int, start: int) -> str:
    fields = [state, parent, session, session, *[0] * 15, start, *[0] * 30]
    return f"{pid} ({name}) {' '.join(map(str, fields))}\n"


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("acp_agent.process.sessions._PROC", str(tmp_path))

    def session_of(pid: int) -> int:
        if (found := entry(pid)) is None:
            raise ProcessLookupError
        return found.session

    monkeypatch.setattr(os, "getsid", session_of)
    return tmp_path


def put(proc: Path, pid: int, line: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "stat").write_text(line)


def test_a_name_with_spaces_and_parentheses_is_read_right(proc: Path) -> None:
    """A process names itself as it likes, to look like another if need be."""
    put(proc, 70, stat_line(70, "a) Z 1 (b", "S", 5, 60, 1234))
    found = entry(70)
    assert found is not None
    assert (found.state, found.parent, found.session, found.start) == ("S", 5, 60, 1234)
    assert not found.is_dead


def test_what_cannot_be_read_is_no_process(proc: Path) -> None:
    """Processes end while the table is read."""
    put(proc, 70, "70 (short) S 1\n")
    (proc / "71").mkdir()
    (proc / "self").mkdir()
    assert process_table() is None
    put(proc, 72, stat_line(72, "x", "S", 1, 72, 5))
    assert [one.pid for one in process_table() or []] == [72]


def test_a_stranger_that_was_given_our_old_pid_is_left_alone(proc: Path) -> None:
    """With the leader reaped its number is free; a session led by it again is not ours."""
    put(proc, 4_000_001, stat_line(4_000_001, "stranger", "S", 1, 4_000_001, 5))
    assert session_is_alive(4_000_001, leader_reaped=False)
    assert not session_is_alive(4_000_001, leader_reaped=True)
    assert asyncio.run(end_session(4_000_001, leader_reaped=True))


def test_zombies_do_not_keep_a_session_alive(proc: Path) -> None:
    """In a container nobody may reap them."""
    put(proc, 4_000_002, stat_line(4_000_002, "z", "Z", 1, 4_000_001, 5))
    assert not session_is_alive(4_000_001, leader_reaped=True)


def test_what_outlives_sigkill_is_reported(proc: Path) -> None:
    """A process that hangs in the kernel is given up within the bound, and the caller is told."""
    put(proc, 4_000_003, stat_line(4_000_003, "stuck", "D", 1, 4_000_001, 5))
    assert not asyncio.run(end_session(4_000_001, leader_reaped=True, grace_s=0.01))


def test_a_session_started_elsewhere_can_be_ended() -> None:
    """For whoever starts a program with pipes of its own: the leader's pid is enough."""
    with subprocess.Popen(
        [sys.executable, "-c", "import os, time; os.fork(); time.sleep(600)"], start_new_session=True
    ) as process:
        assert asyncio.run(end_session(process.pid))
        assert process.wait(10) == -15
        assert not session_is_alive(process.pid, leader_reaped=True)


def test_our_own_process_is_in_the_table() -> None:
    """The real /proc has the form that is expected."""
    found = entry(os.getpid())
    assert found is not None
    assert found.parent == os.getppid()
    assert found.session == os.getsid(0)


def test_a_proc_that_hides_the_leader_is_not_believed(proc: Path) -> None:
    """In some sandboxes /proc shows other processes than there are; the group is ended then."""
    put(proc, 4_000_001, stat_line(4_000_001, "other", "S", 1, 4_000_001, 5))
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        ending = asyncio.run(end_session(process.pid, grace_s=0.1))
        assert process.wait(10) == -15
    assert not ending  # the zombie, not yet reaped here, still counts for the group
