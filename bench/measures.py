"""What is measured: each measure starts its own process, drives it and returns figures by name.

It owns the prompts, the counts and the check that the agent really did the work: no figure comes from a turn whose
messages were not what was asked for. Deliberately absent: medians, ratios and rounds (table.py, run.py).

A process of its own for every measure: memory then belongs to that measure, and no measure warms up the next.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from driver import AgentFailed, AgentProcess, Message, Turn, one_core, result_of

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Load:
    """How much work a round is. The defaults are what the published figures use."""

    warm_up_prompts: int = 10
    echo_prompts: int = 300
    stream_updates: int = 20_000
    tool_cycles: int = 1_000
    big_kib: int = 8 * 1024
    stall_updates: int = 2_000_000
    stall_s: float = 3.0
    timeout_s: float = 60.0


QUICK = Load(
    echo_prompts=50, stream_updates=2_000, tool_cycles=100, big_kib=1024, stall_s=0.5, timeout_s=20.0
)


@dataclass(frozen=True, slots=True)
class Contestant:
    """An agent to measure: its name in the table and its command."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where one measure of one round runs. scratch: an empty directory; core: the one for one-core measures."""

    load: Load
    scratch: Path
    core: int


Figures = dict[str, float]


class WrongWork(AgentFailed):
    """The agent answered, but not with what the prompt asks for."""


@contextmanager
def running(contestant: Contestant, setting: Setting) -> Iterator[AgentProcess]:
    """The contestant's process; afterwards it may end in its own way, and is ended if it does not."""
    with AgentProcess(contestant.command, setting.scratch, setting.load.timeout_s) as process:
        yield process
        with suppress(AgentFailed):
            process.end(timeout_s=5)


@contextmanager
def in_session(contestant: Contestant, setting: Setting) -> Iterator[tuple[AgentProcess, str]]:
    """The same, initialised, with a session in which the first prompt's one-time costs are already paid."""
    with running(contestant, setting) as process:
        process.initialize()
        session_id = process.new_session()
        for _ in range(setting.load.warm_up_prompts):
            check_chunks(process.prompt(session_id, "echo"), count=1)
        yield process, session_id


# ── the measures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def start_and_exit(contestant: Contestant, setting: Setting) -> Figures:
    """Spawn to the `initialize` response; then a session, one turn, end of file.

    What an agent puts off until after the handshake is seen at the first turn's answer, and all of it, interpreter
    shutdown included, in the CPU of the whole life.
    """
    with running(contestant, setting) as process:
        process.initialize()
        initialize_s = time.perf_counter() - process.started_at
        initialize_cpu_s = process.cpu_s()
        session_id = process.new_session()
        idle_bytes = process.peak_rss_bytes()
        turn = process.prompt(session_id, "echo")
        first_turn_s = time.perf_counter() - process.started_at
        first_turn_cpu_s = process.cpu_s()
        check_chunks(turn, count=1)
        exited = process.end()
    return {
        "start_ms": initialize_s * 1e3,
        "start_cpu_ms": initialize_cpu_s * 1e3,
        "first_turn_ms": first_turn_s * 1e3,
        "first_turn_cpu_ms": first_turn_cpu_s * 1e3,
        "life_cpu_ms": exited.cpu_s * 1e3,
        "exit_ms": exited.seconds * 1e3,
        "idle_rss_mib": idle_bytes / MIB,
    }


def echo(contestant: Contestant, setting: Setting) -> Figures:
    """Prompts with one chunk for an answer, one after the other, both processes on one core."""
    with one_core(setting.core), in_session(contestant, setting) as (process, session_id):
        turns = [process.prompt(session_id, "echo") for _ in range(setting.load.echo_prompts)]
    for turn in turns:
        check_chunks(turn, count=1)
    seconds = [turn.seconds for turn in turns]
    return {
        "echo_p50_us": percentile(seconds, 50) * 1e6,
        "echo_p99_us": percentile(seconds, 99) * 1e6,
        "echo_cpu_us": statistics.fmean(turn.cpu_s for turn in turns) * 1e6,
    }


def stream(contestant: Contestant, setting: Setting) -> Figures:
    """One turn of many small updates, the client reading as fast as they come."""
    count = setting.load.stream_updates
    with in_session(contestant, setting) as (process, session_id):
        turn = process.prompt(session_id, f"stream {count}")
        peak_bytes = process.peak_rss_bytes()
    check_chunks(turn, count=count, mean_length=range(35, 46))
    return {
        "stream_per_s": count / turn.seconds,
        "stream_cpu_us": turn.cpu_s / count * 1e6,
        "stream_rss_mib": peak_bytes / MIB,
    }


def tools(contestant: Contestant, setting: Setting) -> Figures:
    """One turn of tool calls, each with a permission question that is answered at once; one core for both."""
    count = setting.load.tool_cycles
    with one_core(setting.core), in_session(contestant, setting) as (process, session_id):
        drive_tools(process, session_id, 1)
        seconds, cpu_s, messages = drive_tools(process, session_id, count)
    check_tools(messages, count)
    return {"tools_per_s": count / seconds, "tools_cpu_us": cpu_s / count * 1e6}


def big_answer(contestant: Contestant, setting: Setting) -> Figures:
    """One large chunk from the agent."""
    with in_session(contestant, setting) as (process, session_id):
        turn = process.prompt(session_id, f"big {setting.load.big_kib}")
        peak_bytes = process.peak_rss_bytes()
    check_chunks(
        turn, count=1, mean_length=range(setting.load.big_kib * 1024, setting.load.big_kib * 1024 + 64)
    )
    return {
        "big_answer_ms": turn.seconds * 1e3,
        "big_answer_cpu_ms": turn.cpu_s * 1e3,
        "big_answer_rss_mib": peak_bytes / MIB,
    }


def big_prompt(contestant: Contestant, setting: Setting) -> Figures:
    """One large prompt to the agent, answered with the one chunk of `echo`."""
    text = "echo " + "0123456789abcdef" * (setting.load.big_kib * 64)
    with in_session(contestant, setting) as (process, session_id):
        turn = process.prompt(session_id, text)
        peak_bytes = process.peak_rss_bytes()
    check_chunks(turn, count=1)
    return {
        "big_prompt_ms": turn.seconds * 1e3,
        "big_prompt_cpu_ms": turn.cpu_s * 1e3,
        "big_prompt_rss_mib": peak_bytes / MIB,
    }


def stalled_client(contestant: Contestant, setting: Setting) -> Figures:
    """A client that stops reading in the middle of an endless answer, then cancels, then reads on.

    Memory is sampled while nothing is read. The time runs from the cancel being written, with reading resumed at
    once, to the prompt's answer; late_updates is how many updates of that turn still came in between.
    """
    with in_session(contestant, setting) as (process, session_id):
        before_bytes = process.rss_bytes()
        request_id = process.send_prompt(session_id, f"stream {setting.load.stall_updates}")
        most_bytes = before_bytes
        stalled_until = time.perf_counter() + setting.load.stall_s
        while (left_s := stalled_until - time.perf_counter()) > 0:
            time.sleep(min(left_s, 0.02))
            most_bytes = max(most_bytes, process.rss_bytes())
        process.cancel(session_id)
        cancelled_at = time.perf_counter()
        raw = process.read_to_answer(request_id)
        seconds = time.perf_counter() - cancelled_at
    messages = [orjson.loads(line) for line in raw.splitlines()]
    reason = result_of(messages[-1], "session/prompt")["stopReason"]
    if reason != "cancelled":
        raise WrongWork(
            f"the cancelled turn ended with stop reason {reason!r} after {len(messages) - 1} updates"
        )
    return {
        "stall_growth_mib": (most_bytes - before_bytes) / MIB,
        "stall_cancel_ms": seconds * 1e3,
        "stall_updates": float(len(messages) - 1),
    }


MEASURES: dict[str, Callable[[Contestant, Setting], Figures]] = {
    "start": start_and_exit,
    "echo": echo,
    "stream": stream,
    "tools": tools,
    "big-answer": big_answer,
    "big-prompt": big_prompt,
    "stall": stalled_client,
}


# ── the pieces ───────────────────────────────────────────────────────────────────────────────────────────────────────


def drive_tools(process: AgentProcess, session_id: str, count: int) -> tuple[float, float, list[Message]]:
    """Run one `tools` turn; return seconds, the agent's CPU seconds and the messages it sent.

    Only permission questions are parsed while the clock runs: both processes share the core.
    """
    lines: list[bytes] = []
    cpu_s = process.cpu_s()
    started_at = time.perf_counter()
    process.send_prompt(session_id, f"tools {count}")
    while True:
        line = process.read_line()
        lines.append(line)
        if b'"session/request_permission"' in line:
            question = orjson.loads(line)
            option_id = allowing_option(question["params"]["options"])
            outcome = {"outcome": {"outcome": "selected", "optionId": option_id}}
            process.write({"jsonrpc": "2.0", "id": question["id"], "result": outcome})
        elif b'"method"' not in line:
            break
    seconds = time.perf_counter() - started_at
    return seconds, process.cpu_s() - cpu_s, [orjson.loads(line) for line in lines]


def allowing_option(options: Sequence[dict[str, Any]]) -> str:
    """The option that allows this one call."""
    for option in options:
        if option["kind"] == "allow_once":
            option_id: str = option["optionId"]
            return option_id
    raise WrongWork("it asked for permission without an option of kind allow_once")


def check_chunks(turn: Turn, count: int, mean_length: range | None = None) -> None:
    """Raise WrongWork unless the turn is exactly count text chunks and then `end_turn`.

    mean_length: the range in which the mean number of characters must lie.
    """
    *updates, answer = turn.messages()
    reason = result_of(answer, "session/prompt")["stopReason"]
    if reason != "end_turn":
        raise WrongWork(f"the turn ended with stop reason {reason!r} instead of 'end_turn'")
    texts = [
        message["params"]["update"]["content"]["text"]
        for message in updates
        if message["method"] == "session/update"
        and message["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    ]
    if len(texts) != count or len(updates) != count:
        raise WrongWork(f"asked for {count} chunks, got {len(texts)} in {len(updates)} messages")
    length = sum(map(len, texts)) / count
    if mean_length is not None and not mean_length.start <= length < mean_length.stop:
        raise WrongWork(
            f"the chunks are {length:.0f} characters long, not {mean_length.start} or a little more"
        )


def check_tools(messages: Sequence[Message], count: int) -> None:
    """Raise WrongWork unless the turn is count full cycles, each in the order the protocol wants, then `end_turn`."""
    *steps, answer = messages
    reason = result_of(answer, "session/prompt")["stopReason"]
    if reason != "end_turn":
        raise WrongWork(f"the turn ended with stop reason {reason!r} instead of 'end_turn'")
    seen = [name for name in map(step_name, steps) if name != "agent_message_chunk"]
    wanted = ["tool_call pending", "session/request_permission", "in_progress", "completed"]
    for index, (got, want) in enumerate(itertools.zip_longest(seen, wanted * count)):
        if got != want:
            raise WrongWork(f"tool step {index + 1} is {got!r} instead of {want!r}")
    for message in steps:
        if step_name(message) == "completed" and not message["params"]["update"].get("content"):
            raise WrongWork("a tool call completed without content")


def step_name(message: Message) -> str:
    """What a message of a tool cycle is, in a word or two."""
    if message["method"] != "session/update":
        return str(message["method"])
    update = message["params"]["update"]
    match update["sessionUpdate"]:
        case "tool_call":
            return f"tool_call {update.get('status', 'pending')}"
        case "tool_call_update":
            return str(update.get("status"))
        case other:
            return str(other)


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least percent per cent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
