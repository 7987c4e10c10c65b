"""An event loop whose waiting takes no time: when all tasks wait, the clock goes on to the next moment by itself.

A second's grace, a delay or a timeout is as long as ever to whoever waits for it, and over at once for the fuzzer. Only
where nothing happens outside of the loop: a thread or a child would be overtaken.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class StuckError(AssertionError):
    """What is waited for does not come."""


class _Hurried(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Does not wait, but counts the seconds that it should have waited."""

    skipped_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout is None:
            raise StuckError("everything waits, and for nothing that could happen")
        if not ready and timeout:
            self.skipped_s += timeout
        return ready


class _HurriedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._hurried = _Hurried()
        super().__init__(self._hurried)

    def time(self) -> float:
        return self._hurried.skipped_s


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end. Raises StuckError where it waits for ever."""
    runner = asyncio.Runner(loop_factory=_HurriedLoop)
    try:
        return runner.run(work)
    finally:
        # After a find tasks may be left that nothing ends; the find is what counts.
        with suppress(StuckError):
            runner.close()
