"""The harness as an agent on standard input and output: one scenario from the first byte.

Owns the process: its descriptors, the record, the part it leaves for the driver, and its end. The menu of an editor
is menu.py. Deliberately absent: what happens in a scenario (play.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from acp_agent import __version__
from acp_agent.harness.part import PartFile, has_begun, read_parts
from acp_agent.harness.play import Performance
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire
from acp_agent.transport.outbox import Outbox
from acp_agent.transport.stdio import Descriptors, StdioTransport, take_over
from acp_agent.transport.trace import TraceWriter

SETTLE_S: Final = 8.0
"""How long a driven client may take to close the connection once the scenario is over, before the agent ends it."""

WAITING_SETTLE_S: Final = 1.5
"""The same for one whose plan tells it to stay."""

_FETCH_S: Final = 0.05
_FETCH_POLL_S: Final = 0.0005
_FLUSH_S: Final = 10.0
_SAVE_EVERY_S: Final = 0.5
_OUTBOX_BYTES: Final = 32 * 1024 * 1024


class StdioPort:
    """The process's own standard input and output as a Port."""

    def __init__(self, descriptors: Descriptors, on_bytes: Callable[[bytes], None]) -> None:
        self._outbox = Outbox(_OUTBOX_BYTES)
        self._ended = False
        self._on_bytes = on_bytes
        self.transport = StdioTransport(descriptors, self._outbox, self._receive, self._reader_went_away)
        self.transport.start()

    def post(self, data: bytes) -> None:
        """Hand bytes to the writer."""
        self._outbox.post(data)

    async def flushed(self) -> None:
        """Wait until the pipe has taken all; at once when nobody reads any more."""
        await self._outbox.flushed()

    async def fetched(self) -> None:
        """Wait until the client has emptied the pipe, for at most a twentieth of a second."""
        await self._outbox.flushed()
        deadline = time.monotonic() + _FETCH_S
        # A kind of output that does not tell is given the whole time.
        while self.transport.unread_bytes() != 0:
            # There is nothing to wait on: no system tells a writer that its reader has read.
            if time.monotonic() >= deadline:
                return
            await asyncio.sleep(_FETCH_POLL_S)

    def close_output(self) -> None:
        """Write what is pending, and let the client see the end of the stream while reading goes on."""
        self.transport.close_output()

    def _receive(self, data: bytes) -> None:
        if not self._ended:
            self._ended = not data
            self._on_bytes(data)

    def _reader_went_away(self) -> None:
        self._receive(b"")


def claim_life(scenario: Scenario, directory: Path) -> tuple[PartFile, bool]:
    """This process's part, and whether it plays the script: not after a life that has played it already."""
    earlier = read_parts(directory) if directory.is_dir() else []
    file = PartFile.claim(directory)
    played = sum(has_begun([part]) for part in earlier)
    return file, played < scenario.lives


def serve_one(scenario: Scenario, directory: Path, *, driven: bool) -> int:
    """Be the agent of one scenario until the client leaves; returns the exit code.

    directory: where the part and the trace go. driven: no person watches; do not wait for the client for ever.
    """
    file, plays = claim_life(scenario, directory)
    descriptors = take_over()
    return asyncio.run(_serve(scenario, file, descriptors, plays=plays, driven=driven))


async def _serve(
    scenario: Scenario, file: PartFile, descriptors: Descriptors, *, plays: bool, driven: bool
) -> int:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    trace_path = file.path.with_name(f"trace-{file.life}.jsonl")
    programs = {"agent": f"acp-harness {__version__} {scenario.id}"}
    early: list[bytes] = []
    hear: Callable[[bytes], None] = early.append

    def on_bytes(data: bytes) -> None:
        hear(data)
        if not data:
            over.set()

    port = StdioPort(descriptors, on_bytes)
    with TraceWriter(trace_path, programs) as trace:
        wire = Wire(port, trace=trace)
        stand_in = StandIn(wire, scenario.offer)
        performance = Performance(
            scenario,
            wire,
            stand_in,
            life=file.life,
            narrates=not driven,
            on_failure=lambda text: print(text, file=sys.stderr),
        )
        performance.part.trace = trace_path.name
        hear = performance.feed
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, over.set)

        def save() -> None:
            try:
                file.save(performance.collect())
            except OSError as error:
                print(f"acp-harness: the result cannot be written: {error}", file=sys.stderr)

        saving = loop.create_task(_keep_saving(save))
        try:
            if plays:
                script = loop.create_task(performance.play())
                # A script ends by itself when the client goes; a signal ends it from here.
                await _first_of(script, over)
                if not script.done() and not wire.client_ended:
                    script.cancel()
                await asyncio.wait([script], timeout=scenario.deadline_s)
            else:
                performance.part.reason = "the scenario was played in an earlier connection"
                performance.wrap_up()
            save()
            if performance.exit_code is None:
                await _until_client_leaves(scenario, over, driven=driven)
        finally:
            saving.cancel()
            save()
        await port.transport.finish(_FLUSH_S if performance.exit_code is None else 0.5)
    return performance.exit_code or 0


async def _until_client_leaves(scenario: Scenario, over: asyncio.Event, *, driven: bool) -> None:
    stays = any(step.get("do") == "wait" for step in scenario.user)
    settle_s = (WAITING_SETTLE_S if stays else SETTLE_S) if driven else None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(settle_s):
            await over.wait()


async def _first_of(script: asyncio.Task[None], over: asyncio.Event) -> None:
    waiter = asyncio.ensure_future(over.wait())
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
