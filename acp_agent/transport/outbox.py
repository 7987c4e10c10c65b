"""The one ordered way out: what has been posted and the kernel has not taken yet.

Owns the order of outgoing bytes, their count, and the waiting of producers that are too far ahead of the reader
at the other end. Deliberately absent: descriptors (`stdio.py` writes), and any idea of what the bytes mean.

Order in the code is order on the wire: `post()` is synchronous and never blocks. Small messages are kept joined in
segments, because a hundred thousand separate bytes objects cost more memory than what they hold, and because a
segment goes to the kernel as it is. A large message is kept by itself and never copied.

An outbox belongs to one event loop and one thread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

FLUSH_MARK_BYTES = 64 * 1024
"""What a pipe of Linux holds: with more than this pending, a producer had better let the writer write."""

_SEGMENT_BYTES = 64 * 1024
_LARGE_BYTES = 64 * 1024
_SEGMENTS_A_WRITE = 64
Buffer = bytes | bytearray | memoryview


class Outbox:
    """Bytes on their way out, oldest first, with a limit that producers wait at."""

    __slots__ = (
        "_closed",
        "_flush",
        "_largest",
        "_pending",
        "_segments",
        "_tail",
        "_waiters",
        "_wake",
        "dropped_bytes",
        "limit_bytes",
    )

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.dropped_bytes = 0
        """Posted after the close, or pending at it: what the reader will never see."""
        self._segments: deque[Buffer] = deque()
        self._tail: bytearray | None = None
        self._pending = 0
        self._largest = 0
        self._closed = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._wake: Callable[[], None] | None = None
        self._flush: Callable[[], None] | None = None

    # For producers

    def post(self, data: bytes) -> None:
        """Append whole lines; returns at once. After the close they are counted as dropped, which is no error:
        a turn that ends while the reader goes away has nobody left to tell."""
        size = len(data)
        if self._closed or not size:
            self.dropped_bytes += size
            return
        tail = self._tail
        if size >= _LARGE_BYTES:
            self._segments.append(data)
            self._tail = None
        elif tail is not None and len(tail) < _SEGMENT_BYTES:
            tail += data
            if len(tail) >= _SEGMENT_BYTES:
                # Full: without the room that a bytearray keeps for growing.
                self._segments[-1] = bytes(tail)
                self._tail = None
        else:
            self._tail = tail = bytearray(data)
            self._segments.append(tail)
        if size > self._largest:
            self._largest = size
        was_empty = not self._pending
        self._pending += size
        if was_empty and self._wake is not None:
            self._wake()

    @property
    def pending_bytes(self) -> int:
        """What has been posted and not yet been taken by the kernel."""
        return self._pending

    @property
    def above_flush_mark(self) -> bool:
        """True when a producer should call `drain()` before it posts more."""
        return self._pending > FLUSH_MARK_BYTES

    @property
    def full(self) -> bool:
        """True when `drain()` would wait."""
        return self._pending > self.limit_bytes

    @property
    def flooded(self) -> bool:
        """True above twice the limit, which nobody who drains can reach.

        A producer that drains leaves at most the limit and one message pending, so the largest message is not
        counted: what is left over are answers to a peer that asks and asks and does not read.
        """
        return self._pending - self._largest > 2 * self.limit_bytes

    @property
    def closed(self) -> bool:
        """True once nothing that is posted can reach the reader any more."""
        return self._closed

    async def drain(self) -> None:
        """Wait until at most limit_bytes are pending, or the outbox is closed.

        Above the flush mark it first hands the kernel what it takes. Below the limit it returns without giving
        way to other tasks: a producer that awaits nothing else must do that itself now and then.
        """
        if self._pending > FLUSH_MARK_BYTES:
            self.flush()
        if self.full:
            await self._until_at_most(self.limit_bytes)

    def flush(self) -> None:
        """Hand the kernel what it takes now, rather than in the loop's next pass."""
        if self._pending and self._flush is not None:
            self._flush()

    async def flushed(self) -> None:
        """Wait until nothing is pending, or the outbox is closed."""
        await self._until_at_most(0)

    async def _until_at_most(self, level: int) -> None:
        while self._pending > level and not self._closed:
            future = asyncio.get_running_loop().create_future()
            waiter = (level, future)
            self._waiters.append(waiter)
            try:
                await future
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)

    # For the single writer

    def attach(self, wake: Callable[[], None], flush: Callable[[], None]) -> None:
        """Name the writer: `wake` is called when the first bytes become pending, `flush` when a producer waits.

        What was posted before counts: `wake` is called at once for it.
        """
        self._wake = wake
        self._flush = flush
        if self._pending:
            wake()

    def head(self) -> list[Buffer]:
        """The oldest pending segments, for one write; [] when nothing is pending.

        The writer must let go of them before anything else is posted: the last one may still grow.
        """
        segments = self._segments
        if len(segments) <= _SEGMENTS_A_WRITE:
            return list(segments)
        return [segments[index] for index in range(_SEGMENTS_A_WRITE)]

    def taken(self, count: int) -> None:
        """The kernel took the first `count` pending bytes: forget them, and wake who waited for that."""
        self._pending -= count
        segments = self._segments
        while count:
            first = segments[0]
            size = len(first)
            if count >= size:
                segments.popleft()
                count -= size
            elif isinstance(first, bytearray):
                # CPython moves the start of the buffer, so this costs the bytes removed, not the bytes left.
                del first[:count]
                break
            else:
                segments[0] = memoryview(first)[count:]
                break
        if not segments:
            self._tail = None
            self._largest = 0
        if self._waiters:
            self._release()

    def close(self) -> None:
        """Nobody reads any more: drop what is pending, release who waits. A second close does nothing."""
        if self._closed:
            return
        self._closed = True
        self.dropped_bytes += self._pending
        self._pending = 0
        self._largest = 0
        self._segments.clear()
        self._tail = None
        self._wake = None
        self._flush = None
        self._release()

    def _release(self) -> None:
        waiting = []
        for waiter in self._waiters:
            level, future = waiter
            if self._pending > level and not self._closed:
                waiting.append(waiter)
            elif not future.done():
                future.set_result(None)
        self._waiters = waiting
