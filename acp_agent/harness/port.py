"""Two descriptors as the harness writes to them and hears from them: where an agent's bytes come and go.

Deliberately absent: what the bytes mean (wire.py).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from acp_agent.transport.outbox import Outbox
from acp_agent.transport.stdio import Descriptors, StdioTransport

_FETCH_S: Final = 0.05
_FETCH_POLL_S: Final = 0.0005
_OUTBOX_BYTES: Final = 32 * 1024 * 1024


class DescriptorPort:
    """Two descriptors as a Port (wire.py). on_bytes: gets each slice of the client, b"" once at its end."""

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
        while not self.transport.peer_has_read():
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
