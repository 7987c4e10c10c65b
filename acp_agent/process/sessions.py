"""Process sessions: who is in one, and how one is ended for certain.

A child of ours leads a session of its own, so the session is what a command started: the process
groups a shell makes for its jobs (`set -m`) are in it as well. A process leaves it only on purpose,
with setsid.

Decided: no PR_SET_CHILD_SUBREAPER. It would make us the parent of everything that was detached on
purpose, to be reaped by us for as long as we live, and it changes the whole process, which may not be
ours alone. The price: a process that left the session is found while its parents live (they are walked
before anything is killed), and not after its last parent has gone; that one counts as detached.

Without /proc (macOS) only the leader's process group is seen and signalled.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from typing import NamedTuple

GRACE_S = 0.5
"""Between SIGTERM and SIGKILL: time to remove a lock file, short enough for a cancel to answer in 2 s."""

KILL_WAIT_S = 0.5
"""After SIGKILL; a process that is still there hangs in the kernel and nothing more can be done."""

_PROC = "/proc"
_FIRST_POLL_S = 0.002
_LONGEST_POLL_S = 0.03


class Entry(NamedTuple):
    """One process as the kernel shows it. start, in clock ticks since boot, tells a reused pid apart."""

    pid: int
    state: str
    parent: int
    session: int
    start: int

    @property
    def is_dead(self) -> bool:
        return self.state in "ZXx"


def entry(pid: int | str) -> Entry | None:
    """Look up one process; None when there is none (or no /proc)."""
    try:
        fd = os.open(f"{_PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(fd, 4096)
    except OSError:  # it ended between the two calls
        return None
    finally:
        os.close(fd)
    # The name in parentheses may itself hold spaces and parentheses; the numbers follow the last one.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Entry(int(pid), fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))


def process_table() -> list[Entry] | None:
    """Every process that is visible, zombies too; None when the system has no /proc."""
    found = [one for pid in _pids() if (one := entry(pid)) is not None]
    return found or None


def _pids() -> list[int]:
    """Every pid there is; none when the system has no /proc."""
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - faster by far
    except OSError:
        return []


def session_is_alive(leader: int, *, leader_reaped: bool) -> bool:
    """Whether any process of the session of `leader` still runs.

    leader_reaped: we have taken its exit status, so a process with its pid now is a stranger that was
    given the same number, and the session is over.
    """
    pids = _pids()
    if not pids:
        return _signal_group(leader, 0)
    return bool(_members(leader, pids, leader_reaped=leader_reaped))


async def end_session(leader: int, *, leader_reaped: bool = False, grace_s: float = GRACE_S) -> bool:
    """End the session led by `leader` and what still descends from it: SIGTERM, grace, SIGKILL.

    Takes at most grace_s + KILL_WAIT_S, and returns as soon as all are gone; returns whether they are.
    Reaping the leader is its parent's business, except for orphans that became children of ours.
    Cancelled, it sends SIGKILL to all it knows before it gives way.
    """
    table = process_table()
    if table is None or not (leader_reaped or any(one.pid == leader for one in table)):
        return await _end_group(leader, grace_s)  # no /proc, or one that does not show what is there
    found = _members(leader, [one.pid for one in table], leader_reaped=leader_reaped)
    if not leader_reaped:
        found = _with_descendants({leader, *(one.pid for one in found)}, table)
    try:
        if _signal_all(found, signal.SIGTERM):
            found = await _wait_gone(found, grace_s)
    finally:
        _signal_all(found, signal.SIGKILL)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + KILL_WAIT_S
    while True:
        # One more look for what was forked while we were killing.
        left = await _wait_gone(found, deadline - loop.time())
        found = _members(leader, _pids(), leader_reaped=leader_reaped)
        if not found or loop.time() >= deadline:
            return not (found or left)
        _signal_all(found, signal.SIGKILL)


def _members(leader: int, pids: list[int], *, leader_reaped: bool) -> list[Entry]:
    members = []
    for pid in pids:
        # Asking for the session alone is ten times cheaper than reading an entry.
        with contextlib.suppress(OSError):  # it ended, or may not be asked
            if os.getsid(pid) == leader and (one := entry(pid)) is not None and not _is_gone(one):
                members.append(one)
    if leader_reaped and any(one.pid == leader for one in members):
        return []
    return members


def _with_descendants(roots: set[int], table: list[Entry]) -> list[Entry]:
    children: dict[int, list[Entry]] = {}
    for one in table:
        children.setdefault(one.parent, []).append(one)
    pids = set(roots)
    pending = list(roots)
    while pending:
        for one in children.get(pending.pop(), ()):
            if one.pid not in pids:
                pids.add(one.pid)
                pending.append(one.pid)
    return [one for one in table if one.pid in pids and not one.is_dead]


def _signal_all(targets: list[Entry], number: int) -> bool:
    """Signal each target that is still the process we saw; return whether there was any."""
    reached = False
    for target in targets:
        now = entry(target.pid)
        if now is None or now.start != target.start or now.is_dead:
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(target.pid, number)
            reached = True
    return reached


def _is_gone(target: Entry) -> bool:
    now = entry(target.pid)
    if now is None or now.start != target.start:
        return True
    if now.is_dead and now.parent == os.getpid() and now.pid != now.session:
        # We are the init of a container, and this orphan was given to us: nobody else will reap it.
        # Never a session's leader: that may be a child whose owner is waiting for its status.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(now.pid, os.WNOHANG)
    return now.is_dead


async def _wait_gone(targets: list[Entry], within_s: float) -> list[Entry]:
    left = targets

    def all_gone() -> bool:
        nonlocal left
        left = [one for one in left if not _is_gone(one)]
        return not left

    await _poll(all_gone, within_s)
    return left


async def _poll(condition: Callable[[], bool], within_s: float) -> bool:
    """Ask until it is so, or the time is over. There is nothing to wait on: they are not our children."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    pause = _FIRST_POLL_S
    while not condition():
        remaining = deadline - loop.time()
        if remaining <= 0:
            return False
        await asyncio.sleep(min(pause, remaining))
        pause = min(2 * pause, _LONGEST_POLL_S)
    return True


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
        return False
    return True


async def _end_group(group: int, grace_s: float) -> bool:
    def is_gone() -> bool:
        return not _signal_group(group, 0)

    try:
        if _signal_group(group, signal.SIGTERM):
            await _poll(is_gone, grace_s)
    finally:
        _signal_group(group, signal.SIGKILL)
    return await _poll(is_gone, KILL_WAIT_S)
