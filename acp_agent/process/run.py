"""Run a command to its end, and keep count of every child until it is gone.

Owns the decision who outlives what:

- The result comes when the command itself exits. A background child does not hold it up.
- A background child may live on through the rest of the turn, so that a server started by one command
  can be asked by the next. Its session is then *lingering*; `end_lingering` ends it at the end of the
  turn, at a cancel and at exit. `nohup`, `disown` and `set -m` change nothing about that.
- A child that was detached on purpose, `setsid COMMAND &`, left the session and outlives turn and
  program. Its output should go to a file: the pipe it inherited is closed at the end of the turn.
- A command that times out or is cancelled is ended whole: its session, and everything that descends
  from it at that moment, its own sessions too.

Absent on purpose: policy on what may run, and when a turn ends.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from acp_agent.process.child import Child

_END_ALL_S = 1.8
"""A program that exits has 2 s for everything."""

_running: set[Child] = set()
_lingering: set[Child] = set()


class Outcome(NamedTuple):
    """How a command ended.

    output: text that is valid UTF-8, at most the limit plus one note. left_out_bytes: 0 if it is whole.
    exit_code: None when a signal ended the command; then signal_name says which, e.g. "SIGKILL".
    timed_out: we ended it. leaves_behind: processes of it still run, until `end_lingering`.
    """

    output: str
    left_out_bytes: int
    exit_code: int | None
    signal_name: str | None
    timed_out: bool
    leaves_behind: bool


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float | None,
    max_output_bytes: int,
) -> Outcome:
    """Run `argv` (argv[0] is looked up on env's PATH) and wait until it has exited.

    stdin is /dev/null; stdout and stderr are read together, in the order written. At timeout_s (None:
    never) all of it is ended; what it had written is still given. A cancelled call ends all of it before
    CancelledError goes on; cancelled once more it stops waiting, but the ending goes on.
    Raises CannotStart.
    """
    child = Child(argv, cwd=cwd, env=env, max_output_bytes=max_output_bytes)
    _running.add(child)
    timed_out = False
    try:
        try:
            async with asyncio.timeout(timeout_s):
                await child.wait()
        except TimeoutError:
            timed_out = True
            await asyncio.shield(child.end())
        output, left_out = await child.finish()
    except (Exception, asyncio.CancelledError):
        await asyncio.shield(_end(child))
        raise
    leaves_behind = child.leaves_behind()
    _running.discard(child)
    if timed_out:
        child.close()
    elif leaves_behind or child.is_heard:
        _lingering.add(child)
    code = child.returncode
    return Outcome(
        output=output,
        left_out_bytes=left_out,
        exit_code=code if code is not None and code >= 0 else None,
        signal_name=_signal_name(-code) if code is not None and code < 0 else None,
        timed_out=timed_out,
        leaves_behind=leaves_behind,
    )


async def end_lingering() -> None:
    """End what finished commands left running; returns when it is gone, within about a second.

    Cheap when there is nothing. A cancelled caller does not cut the endings short.
    """
    await _end_each(_lingering)


async def end_all() -> None:
    """End every child, running or lingering, within 2 s: for the exit of the program.

    Calls of `run` that still wait get an Outcome with the signal, so cancel their tasks as well.
    """
    await _end_each(_running | _lingering)


async def _end_each(children: set[Child]) -> None:
    if children:
        # asyncio.wait cancels nothing when it is cancelled or out of time.
        await asyncio.wait([_end(child) for child in children], timeout=_END_ALL_S)


def _end(child: Child) -> asyncio.Task[None]:
    """Have the child ended; it is counted until it is gone, so that an exit waits for it."""
    ending = child.end()
    ending.add_done_callback(lambda _: _forget(child))
    return ending


def _forget(child: Child) -> None:
    _running.discard(child)
    _lingering.discard(child)
    child.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # the real-time signals have no names of their own
        return f"signal {number}"
