"""Terminals of a client that offers them: what runs, what is kept of its output, and how it ends.

The commands are POSIX shells and this Python, which are on the client's machine because the agent is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from acp_agent.harness.asked import Answer
from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scenario import on_end, scenario
from acp_agent.harness.scratch import scratch
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn

_NEEDS: Final = ("terminal",)
_SHELL: Final = "/bin/sh"
_ASK: Final = "Allow the commands, if you are asked."
_POLL_S: Final = 0.1
_SOON_S: Final = 8.0
_AT_ONCE_S: Final = 5.0
_EUROS: Final = "€" * 100
_MIXED: Final = "a€🚀ü漢" * 20
_ARGUMENTS: Final = (
    "two words",
    "",
    "'single' and \"double\"",
    "$HOME ${PATH} $(id) `id`",
    "*.py ? [a-z] ~ {a,b}",
    "; rm -rf x & | > < !",
    "back\\slash\\n",
    "a\nnew line",
    "ü€漢🚀",
    "--option=a b",
    "%PATH% ^ %%",
)
_ENV: Final = (
    {"name": "ACP_HARNESS_A", "value": "a b\n'c' $HOME"},
    {"name": "ACP_HARNESS_EMPTY", "value": ""},
)
_TELL: Final = (
    "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), "
    "os.environ.get('ACP_HARNESS_A'), os.environ.get('ACP_HARNESS_EMPTY')]))"
)
_BEATS: Final = 'i=0; while [ $i -lt 600 ]; do echo beat >> "$1"; i=$((i+1)); sleep 0.1; done'
"""A command that shows in a file that it runs, for a minute at most."""


class _Terminal:
    """One terminal of the client. id: as the client gave it."""

    def __init__(self, turn: StagedTurn, id_: str) -> None:
        self.id = id_
        self._turn = turn

    async def ask(self, method: str) -> Answer:
        """`output`, `wait_for_exit`, `kill` or `release`, and the answer."""
        return await self._turn.call(f"terminal/{method}", terminalId=self.id).answer()

    async def output_with(self, text: str, stage: Stage) -> Answer:
        """The output once it has this text, or the last that there was."""
        answer = await self.ask("output")
        for _ in range(int(_SOON_S / _POLL_S)):
            if text in _text(answer) or not answer.is_result:
                break
            await stage.pause(_POLL_S)
            answer = await self.ask("output")
        return answer


async def _create(stage: Stage, turn: StagedTurn, command: str, *args: str, **params: Any) -> _Terminal:
    """Start a command. A client that starts none breaks R-215, and the script is over."""
    answer = await turn.call("terminal/create", command=command, args=list(args), **params).answer()
    id_ = answer.member("terminalId")
    if not stage.check("R-215", isinstance(id_, str), "a terminalId at once", answer):
        raise NotExercised("the client has started no command")
    return _Terminal(turn, str(id_))


def _text(answer: Answer) -> str:
    output = answer.member("output")
    return output if isinstance(output, str) else ""


def _exit(answer: Answer) -> tuple[Any, Any]:
    """Code and signal of an exit status, or of an output that has one."""
    status = answer.member("exitStatus") if "output" in (answer.result or {}) else answer.result
    return (status.get("exitCode"), status.get("signal")) if isinstance(status, dict) else (None, None)


@scenario(
    "terminal/exit-code",
    "A command that prints abc and exits with 3",
    rules=("R-215", "R-218", "R-219", "R-311"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-219",),
)
async def exit_code(stage: Stage) -> None:
    turn = await stage.prompt()
    terminal = await _create(stage, turn, _SHELL, "-c", "printf abc; printf def >&2; exit 3")
    waited = await terminal.ask("wait_for_exit")
    stage.check("R-219", _exit(waited) == (3, None), "the exit code 3, and no signal", waited)
    output = await terminal.ask("output")
    text = _text(output)
    stage.check("R-218", "abc" in text and "def" in text, "abc and def, of both outputs", output)
    stage.check("R-311", _exit(output) == (3, None), "an exitStatus with the code 3 in the output", output)
    again = await terminal.ask("wait_for_exit")
    stage.check("R-219", _exit(again) == (3, None), "the same for a command that has ended already", again)
    await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/while-it-runs",
    "The output of a command that runs: what there is, and no exit status",
    rules=("R-215", "R-218", "R-219"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-218",),
)
async def while_it_runs(stage: Stage) -> None:
    turn = await stage.prompt()
    terminal = await _create(stage, turn, _SHELL, "-c", "echo started; exec sleep 300")
    output = await terminal.output_with("started", stage)
    stage.check("R-218", "started" in _text(output), "the output there is", output)
    running = output.is_result and output.member("exitStatus") is None
    stage.check("R-218", running, "no exit status of a command that runs", output)
    waiting = turn.call("terminal/wait_for_exit", terminalId=terminal.id)
    await stage.check_alive("R-219", after="terminal/wait_for_exit for a command that runs")
    meanwhile = await terminal.ask("output")
    stage.check("R-219", meanwhile.is_result, "an answer to terminal/output while a wait is open", meanwhile)
    early = f"answered with {waiting.answers[0]}" if waiting.is_answered else "open"
    stage.check("R-219", not waiting.is_answered, "the wait open, for the command runs", early)
    await terminal.ask("kill")
    ended = await waiting.answer()
    stage.check("R-219", ended.is_result, "an answer to the wait when the command has ended", ended)
    await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/kill",
    "A command is killed: its output stays, its terminal too",
    rules=("R-215", "R-220", "R-311"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-220",),
)
async def kill(stage: Stage) -> None:
    turn = await stage.prompt()
    terminal = await _create(stage, turn, _SHELL, "-c", "echo started; exec sleep 300")
    await terminal.output_with("started", stage)
    killed = await terminal.ask("kill")
    stage.check("R-220", killed.is_result, "success of terminal/kill", killed)
    waited = await terminal.ask("wait_for_exit")
    stage.check("R-220", waited.is_result, "terminal/wait_for_exit is answered after the kill", waited)
    code, signal = _exit(waited)
    stage.check("R-311", code != 0, "no exit 0 of a command that was killed", waited)
    stage.check("R-311", code is None or signal is None, "the code or the signal, not both", waited)
    output = await terminal.ask("output")
    stage.check("R-220", "started" in _text(output), "the output of before the kill", output)
    again = await terminal.ask("kill")
    stage.check("R-220", again.is_result, "success of a kill of what has ended", again)
    await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/release",
    "A terminal is released: its command ends, and its id is no good any more",
    rules=("R-215", "R-222"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-222",),
)
async def release(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        beats = directory / "beats"
        terminal = await _create(stage, turn, _SHELL, "-c", _BEATS, "sh", str(beats))
        if not await _beats(stage, beats):
            raise NotExercised("the command did not run")
        released = await terminal.ask("release")
        stage.check("R-222", released.is_result, "success of terminal/release", released)
        still = await _still_beats(stage, beats)
        stage.check("R-222", not still, "the end of the command", "it runs on" if still else "it has ended")
    params = {"sessionId": turn.session_id, "terminalId": terminal.id}
    # The id is no good for other methods; that it cannot be released once more is nowhere said.
    for method in ("output", "wait_for_exit", "kill"):
        answer = await stage.call(f"terminal/{method}", params, on_purpose=True).answer()
        stage.check(
            "R-222", answer.code is not None, f"an error for terminal/{method} after the release", answer
        )
    again = await stage.call("terminal/release", params, on_purpose=True).answer()
    stage.check("R-222", again.arrived, "an answer to terminal/release after the release", again)
    turn.end()


async def _beats(stage: Stage, path: Path) -> bool:
    """Whether the command of _BEATS has begun."""
    for _ in range(int(_SOON_S / _POLL_S)):
        if _size(path):
            return True
        await stage.pause(_POLL_S)
    return False


async def _still_beats(stage: Stage, path: Path) -> bool:
    """Whether it is still at it, a while after its end was wanted."""
    for _ in range(int(_AT_ONCE_S)):
        before = _size(path)
        await stage.pause(0.7)
        if _size(path) == before:
            return False
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@scenario(
    "terminal/released-while-waiting",
    "A terminal is released while somebody waits for its command to end",
    rules=("R-215", "R-219", "R-222"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-219",),
)
async def released_while_waiting(stage: Stage) -> None:
    turn = await stage.prompt()
    terminal = await _create(stage, turn, _SHELL, "-c", "echo started; exec sleep 300")
    await terminal.output_with("started", stage)
    waiting = turn.call("terminal/wait_for_exit", terminalId=terminal.id)
    await stage.check_alive("R-219", after="terminal/wait_for_exit for a command that runs")
    released = await terminal.ask("release")
    stage.check("R-222", released.is_result, "success of terminal/release", released)
    answer = await waiting.answer()
    stage.check("R-219", answer.arrived, "an answer to the wait: an exit status or an error", answer)
    turn.end()


@scenario(
    "terminal/death-by-signal",
    "A command that ends itself with SIGKILL, and one with SIGTERM",
    rules=("R-215", "R-311"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-311",),
)
async def death_by_signal(stage: Stage) -> None:
    turn = await stage.prompt()
    for name in ("KILL", "TERM"):
        terminal = await _create(stage, turn, _SHELL, "-c", f"kill -{name} $$")
        waited = await terminal.ask("wait_for_exit")
        code, signal = _exit(waited)
        stage.check("R-311", code != 0, f"no exit 0 after a death by SIG{name}", waited)
        one = (code is None) != (signal is None)
        stage.check("R-311", one, "either the code, such as 137, or the signal", waited)
        await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/word-for-word",
    "Arguments with quotes, spaces, dollars, stars and line ends; a directory and variables of their own",
    rules=("R-215", "R-310"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-310",),
)
async def word_for_word(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        cwd = directory / "a dir"
        cwd.mkdir()
        args = ("-I", "-S", "-c", _TELL, *_ARGUMENTS)
        terminal = await _create(stage, turn, sys.executable, *args, cwd=str(cwd), env=list(_ENV))
        await terminal.ask("wait_for_exit")
        output = await terminal.ask("output")
        told = _told(output)
        await terminal.ask("release")
    wanted = [list(_ARGUMENTS), str(cwd), _ENV[0]["value"], _ENV[1]["value"]]
    for what, want, got in zip(
        ("the arguments", "the directory", "a variable", "an empty variable"), wanted, told, strict=True
    ):
        stage.check("R-310", got == want, f"{what} as sent: {want!r}", repr(got), output.number)
    turn.end()


def _told(output: Answer) -> list[Any]:
    """What the command has told of itself; four times None if it has not."""
    try:
        told = json.loads(_text(output))
    except json.JSONDecodeError:
        told = None
    return told if isinstance(told, list) and len(told) == 4 else [None] * 4


@scenario(
    "terminal/truncation",
    "A hundred euro signs with limits of 0 to 12 bytes: whole characters of the end, and no more",
    rules=("R-215", "R-216"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-216",),
)
async def truncation(stage: Stage) -> None:
    turn = await stage.prompt()
    for limit in range(13):
        await _check_cut(stage, turn, _EUROS, limit)
    for limit in (7, 50, 99):
        await _check_cut(stage, turn, _MIXED, limit)
    turn.end()


async def _check_cut(stage: Stage, turn: StagedTurn, text: str, limit: int) -> None:
    terminal = await _create(stage, turn, _SHELL, "-c", 'printf %s "$1"', "sh", text, outputByteLimit=limit)
    await terminal.ask("wait_for_exit")
    output = await terminal.ask("output")
    kept = _text(output)
    size = len(kept.encode("utf-8", "replace"))
    stage.check("R-216", output.is_result and size <= limit, f"no more than {limit} bytes", output)
    stage.check("R-216", text.endswith(kept), "whole characters, the last ones", output)
    # A boundary may cost as much as a character has bytes, and no more.
    stage.check("R-216", size > limit - 4, f"as much as fits into {limit} bytes", output)
    stage.check("R-216", output.member("truncated") is True, "truncated: true", output)
    await terminal.ask("release")


@scenario(
    "terminal/not-truncated",
    "Output that is just as long as its limit, and output without one",
    rules=("R-215", "R-216"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-216",),
)
async def not_truncated(stage: Stage) -> None:
    turn = await stage.prompt()
    for limit in (len(_EUROS.encode()), 5000, None):
        args = ("-c", 'printf %s "$1"', "sh", _EUROS)
        terminal = await _create(stage, turn, _SHELL, *args, outputByteLimit=limit)
        await terminal.ask("wait_for_exit")
        output = await terminal.ask("output")
        stage.check("R-216", _text(output) == _EUROS, f"the whole output, for the limit is {limit}", output)
        stage.check("R-216", output.member("truncated") is False, "truncated: false", output)
        await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/several-at-once",
    "Three terminals at once, each with an id and an end of its own",
    rules=("R-215", "R-218", "R-219"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-219",),
)
async def several_at_once(stage: Stage) -> None:
    turn = await stage.prompt()
    commands = [f"echo number {code}; exit {code}" for code in (4, 5, 6)]
    terminals = [await _create(stage, turn, _SHELL, "-c", command) for command in commands]
    ids = {terminal.id for terminal in terminals}
    stage.check("R-215", len(ids) == len(terminals), "an id for each", f"{len(ids)} ids")
    waits = [turn.call("terminal/wait_for_exit", terminalId=terminal.id) for terminal in terminals]
    for code, terminal, waited in zip((4, 5, 6), terminals, await stage.answers(waits), strict=True):
        stage.check("R-219", _exit(waited) == (code, None), f"the exit code {code}", waited)
        output = await terminal.ask("output")
        own = _text(output).strip() == f"number {code}"
        stage.check("R-218", own, f"the output of the command that exits with {code}", output)
        await terminal.ask("release")
    turn.end()


@scenario(
    "terminal/cannot-start",
    "A program that does not exist",
    rules=("R-016", "R-311"),
    needs=_NEEDS,
    ask=_ASK,
    survives=("R-016",),
)
async def cannot_start(stage: Stage) -> None:
    turn = await stage.prompt()
    command = "/no/such/program/acp-harness"
    answer = await turn.call("terminal/create", command=command, args=[]).answer()
    stage.check("R-016", answer.arrived, "an error, or a terminal whose command has failed", answer)
    id_ = answer.member("terminalId")
    if isinstance(id_, str):
        terminal = _Terminal(turn, id_)
        waited = await terminal.ask("wait_for_exit")
        stage.check("R-311", _exit(waited)[0] != 0, "no exit 0 of what could not start", waited)
        await terminal.ask("release")
    else:
        stage.check("R-311", answer.code is not None, "an error", answer)
    turn.end()


@scenario(
    "terminal/after-the-turn",
    "A terminal that was made in one turn is read and released after it",
    rules=("R-215", "R-218", "R-222"),
    needs=_NEEDS,
    user=(on_end("wait"),),
    ask=_ASK,
)
async def after_the_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    terminal = await _create(stage, turn, _SHELL, "-c", "echo kept")
    await terminal.ask("wait_for_exit")
    turn.end()
    output, released = await _read_and_release(stage, turn, terminal)
    stage.check("R-218", "kept" in _text(output), "the output, though the turn is over", output)
    stage.check("R-222", released.is_result, "success of terminal/release", released)


async def _read_and_release(stage: Stage, turn: StagedTurn, terminal: _Terminal) -> list[Answer]:
    asked = [turn.call(f"terminal/{method}", terminalId=terminal.id) for method in ("output", "release")]
    return await stage.answers(asked)
