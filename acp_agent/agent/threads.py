"""Threads that the end of the program does not wait for.

A look-up of a host name, or a file on a drive that has gone, may hold a thread for minutes, and nothing can stop it.
The threads of `concurrent.futures` are joined when the loop closes and again when Python ends; an agent whose input
has ended has two seconds. Deliberately absent: a limit on their number. There is one turn at a time, and what it waits
for in a thread it waits for alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class UnawaitedThreads(ThreadPoolExecutor):
    """For `loop.set_default_executor`, which takes nothing but this class. What still runs at the end dies with it."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = Semaphore(0)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread that is idle, else in a new one."""
        future: Future[T] = Future()
        self._waiting.put(functools.partial(_carry_out, future, functools.partial(fn, *args, **kwargs)))
        if not self._idle.acquire(blocking=False):
            Thread(target=self._serve, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing: that is the point."""

    def _serve(self) -> None:
        while True:
            self._waiting.get()()
            self._idle.release()


def _carry_out(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - it belongs to whoever awaits the future
        future.set_exception(error)
    else:
        future.set_result(result)
