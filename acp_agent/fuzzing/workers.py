"""A campaign on several processes: each draws with a seed of its own, and the finds are put together.

Owns the scratch directories that sessions work in. Deliberately absent: the campaign (campaign.py).
"""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from types import FrameType
from typing import Any, Final

from acp_agent.client.errors import CannotStartAgent
from acp_agent.fuzzing.agent_target import AgentTarget
from acp_agent.fuzzing.campaign import Budget, Settings, run_campaign
from acp_agent.fuzzing.collector import may_raise
from acp_agent.fuzzing.exchange import Deadlines
from acp_agent.fuzzing.finds import Results, merged

_TELL_EVERY_S: Final = 0.5
_LISTEN_S: Final = 0.2
_END_S: Final = 10.0


class _Ended(BaseException):
    """A worker is to end now: no failure of a plan, and no exit that Hypothesis would take for one."""


def run_here(
    command: Sequence[str],
    how: Settings,
    deadlines: Deadlines,
    on_example: Callable[[Results], None] | None = None,
) -> Results:
    """A campaign in this process. Raises CannotStartAgent."""
    with tempfile.TemporaryDirectory(prefix="acp-fuzz-") as directory:
        return run_campaign(
            command, Path(directory), how, lambda words, root: AgentTarget(words, root, deadlines), on_example
        )


def run_on(
    workers: int,
    command: Sequence[str],
    how: Settings,
    deadlines: Deadlines,
    on_example: Callable[[Results], None] | None = None,
) -> Results:
    """A campaign on so many processes; the examples of the budget are shared out, its seconds hold for each.

    on_example gets what is known of all together, now and then. Raises CannotStartAgent.
    """
    if workers == 1:
        return run_here(command, how, deadlines, on_example)
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    processes = [
        context.Process(target=_work, args=(queue, number, tuple(command), part, deadlines))
        for number, part in enumerate(shares(how, workers))
    ]
    for process in processes:
        process.start()
    known: dict[int, Results] = {}
    done: set[int] = set()
    try:
        while len(done) < len(processes):
            number, state, value = _next(queue, processes, done)
            if state == "failed":
                raise CannotStartAgent(value)
            if value is not None:
                known[number] = value
            if state == "done":
                done.add(number)
            if on_example is not None and known:
                on_example(_together(known))
    finally:
        for number, process in enumerate(processes):
            if number not in done:
                process.terminate()  # it ends its agents first
        for process in processes:
            process.join(_END_S)
    return _together(known)


def shares(how: Settings, workers: int) -> list[Settings]:
    """What each worker is to do: its seed, and its part of the examples."""
    examples = how.budget.examples
    parts: list[Settings] = []
    for number in range(workers):
        budget: Budget = how.budget
        if examples is not None:
            budget = budget._replace(examples=examples // workers + (number < examples % workers))
        # Seeds of one worker's rounds follow each other: the next worker's are far away.
        parts.append(how._replace(budget=budget, seed=how.seed + number * 1_000_000))
    return parts


def _work(queue: Any, number: int, command: tuple[str, ...], how: Settings, deadlines: Deadlines) -> None:
    # Ctrl-C reaches all of a terminal's processes; whoever has started this one tells it when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told, ended = time.monotonic(), False

    def end(signal_: int, frame: FrameType | None) -> None:
        nonlocal ended
        if not ended:
            ended = True
            if may_raise(frame):
                raise _Ended

    signal.signal(signal.SIGTERM, end)

    def tell(results: Results) -> None:
        nonlocal told
        if ended:  # what was raised in a callback of the collector is lost
            raise _Ended
        if time.monotonic() - told >= _TELL_EVERY_S:
            told = time.monotonic()
            queue.put((number, "so far", results))

    try:
        queue.put((number, "done", run_here(command, how, deadlines, tell)))
    except CannotStartAgent as error:
        queue.put((number, "failed", str(error)))
    except _Ended:
        queue.cancel_join_thread()


def _next(queue: Any, processes: list[Any], done: set[int]) -> tuple[int, str, Any]:
    """What a worker says next; one that has died says that it is done."""
    while True:
        try:
            message: tuple[int, str, Any] = queue.get(timeout=_LISTEN_S)
        except Empty:
            for number, process in enumerate(processes):
                if number not in done and not process.is_alive():
                    return number, "done", None
        else:
            return message


def _together(known: dict[int, Results]) -> Results:
    first = known[min(known)]
    return merged([Results(first.level, first.seed), *known.values()])
