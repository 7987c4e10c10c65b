"""The harness as an agent on standard input and output: one scenario from the first byte.

Owns the process: its descriptors, the record, the part it leaves for the driver, and its end. The menu of an editor
is menu.py. Deliberately absent: what happens in a scenario (play.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from acp_agent import __version__
from acp_agent.harness.part import PartFile, has_begun, read_parts
from acp_agent.harness.play import Performance
from acp_agent.harness.port import DescriptorPort
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire
from acp_agent.transport.stdio import Descriptors, take_over
from acp_agent.transport.trace import TraceWriter

SETTLE_S: Final = 8.0
"""How long a driven client may take to close the connection once the scenario is over, before the agent ends it."""

WAITING_SETTLE_S: Final = 1.5
"""The same for one whose plan tells it to stay."""

_FLUSH_S: Final = 10.0
_SAVE_EVERY_S: Final = 0.5


def claim_life(scenario: Scenario, directory: Path) -> tuple[PartFile, bool]:
    """This process's part, and whether it plays the script: not after a life that has played it already."""
    earlier = read_parts(directory) if directory.is_dir() else []
    file = PartFile.claim(directory)
    played = sum(has_begun([part]) for part in earlier)
    return file, played < scenario.lives


def serve_one(scenario: Scenario, directory: Path, *, driven: bool) -> int:
    """Be the agent of one scenario on standard input and output until the client leaves; returns the exit code.

    directory: where the part and the trace go. driven: no person watches; do not wait for the client for ever.
    """
    return asyncio.run(_serve_here(scenario, directory, take_over(), driven=driven))


async def _serve_here(scenario: Scenario, directory: Path, descriptors: Descriptors, *, driven: bool) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return await serve(scenario, directory, descriptors, stop, driven=driven)


async def serve(
    scenario: Scenario,
    directory: Path,
    descriptors: Descriptors,
    stop: asyncio.Event,
    *,
    driven: bool,
    on_failure: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
) -> int:
    """As serve_one, on two descriptors, which it closes. stop: set from outside, ends it."""
    file, plays = claim_life(scenario, directory)
    trace_path = file.path.with_name(f"trace-{file.life}.jsonl")
    programs = {"agent": f"acp-harness {__version__} {scenario.id}"}
    early: list[bytes] = []
    hear: Callable[[bytes], None] = early.append

    def on_bytes(data: bytes) -> None:
        hear(data)
        if not data:
            stop.set()

    port = DescriptorPort(descriptors, on_bytes)
    with contextlib.closing(file), TraceWriter(trace_path, programs) as trace:
        wire = Wire(port, trace=trace)
        performance = Performance(
            scenario,
            wire,
            StandIn(wire, scenario.offer),
            life=file.life,
            on_failure=on_failure,
        )
        performance.part.trace = trace_path.name
        hear = performance.feed

        def save() -> None:
            try:
                file.save(performance.collect())
            except OSError as error:
                on_failure(f"acp-harness: the result cannot be written: {error}")

        saving = asyncio.create_task(_keep_saving(save))
        try:
            if plays:
                await _play(performance, stop)
            else:
                performance.part.reason = "the scenario was played in an earlier connection"
                performance.wrap_up()
            save()
            if performance.exit_code is None:
                await _until_client_leaves(scenario, stop, driven=driven)
        finally:
            saving.cancel()
            save()
        await port.transport.finish(_FLUSH_S if performance.exit_code is None else 0.5)
    return performance.exit_code or 0


async def _play(performance: Performance, stop: asyncio.Event) -> None:
    script = asyncio.create_task(performance.play())
    # A script ends by itself when the client goes; a signal ends it from here.
    await _first_of(script, stop)
    if not script.done() and not performance.wire.client_ended:
        script.cancel()
    await asyncio.wait([script], timeout=performance.stage.scenario.deadline_s)


async def _until_client_leaves(scenario: Scenario, stop: asyncio.Event, *, driven: bool) -> None:
    stays = any(step.get("do") == "wait" for step in scenario.user)
    settle_s = (WAITING_SETTLE_S if stays else SETTLE_S) if driven else None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(settle_s):
            await stop.wait()


async def _first_of(script: asyncio.Task[None], stop: asyncio.Event) -> None:
    waiter = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait([script, waiter], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()


async def _keep_saving(save: Callable[[], None]) -> None:
    """A client may kill the agent at any moment; what was seen until then is in the file."""
    save()
    while True:
        await asyncio.sleep(_SAVE_EVERY_S)
        save()
