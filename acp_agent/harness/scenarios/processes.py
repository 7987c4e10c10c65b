"""The agent as a process: what it writes to its standard error, how it is ended, and what comes after its death."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import on_end, scenario
from acp_agent.harness.stage import Stage

_MIB: Final = 1024 * 1024
_STDERR_S: Final = 60.0
"""How long much text on the standard error may take, on a busy machine too."""

_LEAVING_S: Final = 25.0
_LINGERING_S: Final = 12.0
_POLL_S: Final = 0.1
_BURST_PIECES: Final = 80


async def _write_errors(stage: Stage, size: int) -> bool:
    """Write so much to the standard error, in a thread of its own; whether somebody has read it in time."""
    done = threading.Event()

    def write() -> None:
        line = b"a log line of an agent that tells everything ................\n"
        data = line * (size // len(line))
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(2, data[:65536]) :]
        done.set()

    threading.Thread(target=write, daemon=True).start()
    deadline = time.monotonic() + _STDERR_S
    while not done.is_set() and time.monotonic() < deadline:
        await stage.pause(_POLL_S)
    return done.is_set()


@scenario(
    "process/chatty-at-the-start",
    "Two mebibytes go to the standard error before initialize is answered",
    rules=("R-309", "R-008"),
    plays=("initialize",),
    survives=("R-008",),
)
async def chatty_at_the_start(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    read = await _write_errors(stage, 2 * _MIB)
    saw = "it was read" if read else f"the pipe was still full after {_STDERR_S:g} s"
    stage.check("R-309", read, "the standard error read", saw)
    hello.respond({"protocolVersion": 1})
    turn = await stage.prompt(or_breaks="R-008")
    stage.check("R-008", True, "a session and a prompt", "they came", turn.request.number)
    turn.end()


@scenario(
    "process/chatty-in-a-turn",
    "Four mebibytes go to the standard error in the middle of a turn, and words that look like errors",
    rules=("R-309", "R-008"),
    display_rules=("R-308",),
    survives=("R-008",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def chatty_in_a_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Before, ")
    with contextlib.suppress(OSError):
        os.write(2, b"ERROR fatal: panicked at 'Internal error' (this is a test; all is well)\n")
    read = await _write_errors(stage, 4 * _MIB)
    saw = "it was read" if read else f"the pipe was still full after {_STDERR_S:g} s"
    stage.check("R-309", read, "the standard error read", saw)
    turn.say("after.")
    await stage.check_alive("R-008", after="much text on the standard error")
    turn.end()


@scenario(
    "process/stall-then-a-small-line",
    "Five mebibytes in one go, two seconds of silence, and one small line",
    rules=("R-304",),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def stall_then_a_small_line(stage: Stage) -> None:
    turn = await stage.prompt()
    for number in range(_BURST_PIECES):
        turn.say(f"{number:06} " * (_MIB // 16 // 7))
    await stage.flushed()
    await stage.pause(2.0)
    turn.say("a small line")
    await stage.check_alive("R-304", after="a burst, a stall and a small line")
    turn.end()


@contextlib.contextmanager
def _sigterm(note: threading.Event) -> Iterator[None]:
    """Take down that the client asks the process to end, instead of ending."""
    loop = asyncio.get_running_loop()
    # Where there are no signals for this thread, whoever plays this is no process of its own.
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGTERM, note.set)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGTERM)


def _was_ended(after: Aftermath) -> None:
    """A process that was killed outright has said nothing more; then it has been ended, which is what is wanted."""
    if after.driven and not after.hung and after.notes.get("lingers") and not after.notes.get("has ended"):
        after.check("R-307", True, "the client ends the agent that lingers", "it was killed")


@scenario(
    "process/slow-to-exit",
    "The agent does not end when its input is closed",
    rules=("R-307",),
    ask="When the turn has ended, close the agent's thread, or your client, and see that the agent's process ends too.",
    aftermath=_was_ended,
)
async def slow_to_exit(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("I take my time.")
    asked_to_end = threading.Event()
    parent = os.getppid()
    with _sigterm(asked_to_end):
        turn.end()
        stage.note("lingers", True)
        closed = await _passes(stage, lambda: stage.wire.client_ended or asked_to_end.is_set(), _LEAVING_S)
        if not closed:
            stage.not_exercised("R-307", "the client did not end the agent")
        elif not stage.wire.client_ended:
            stage.check("R-307", False, "the agent's input closed first", "SIGTERM while it was open")
        else:
            await _lingers(stage, asked_to_end, parent)
    stage.note("has ended", True)


async def _lingers(stage: Stage, asked_to_end: threading.Event, parent: int) -> None:
    """Stay though the input is closed, until the client does something about it or has gone without doing it."""
    left_behind = await _passes(stage, lambda: asked_to_end.is_set() or os.getppid() != parent, _LINGERING_S)
    # A client may send SIGTERM and be gone: we may hear of its end first.
    await stage.pause(_POLL_S)
    expected = "the client ends the agent that lingers"
    if asked_to_end.is_set():
        stage.check("R-307", True, expected, "it sent SIGTERM")
    elif left_behind:
        stage.check("R-307", False, expected, "the client has gone, and the agent is still there")
    else:
        stage.not_exercised("R-307", f"the client waited for more than {_LINGERING_S:g} s")


async def _passes(stage: Stage, condition: Callable[[], bool], within_s: float) -> bool:
    """Whether it comes true in time, looked at again and again: nobody tells of signals and parents."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() >= deadline:
            return False
        await stage.pause(_POLL_S)
    return True


def _started_again(after: Aftermath) -> None:
    if after.lives > 1:
        return
    display = after.display("R-301")
    tried = display is not None and bool(display.of("user", 2) or display.of("error"))
    if not after.hung and after.exit_code == 0 and not tried:
        after.not_exercised("R-301", "the client did not try to go on after the agent's death")
        return
    after.check_noticed("R-301", "the agent's death")


@scenario(
    "process/new-after-death",
    "The agent dies between two turns; the user wants a new session",
    rules=("R-301",),
    user=(on_end("wait"), on_end("new"), on_end("prompt", text="Are you there again?")),
    ask="When the turn has ended, the agent dies. Start a new session and send a message there.",
    lives=2,
    aftermath=_started_again,
)
async def new_after_death(stage: Stage) -> None:
    turn = await stage.prompt()
    if stage.life == 1:
        turn.say("I am going to die after this.")
        turn.end()
        await stage.flushed()
        await stage.barrier()
        await stage.die(exit_code=1)
    stage.check("R-301", True, "a new process after the old one has died", "it was started and prompted")
    turn.say("A new process.")
    turn.end()
