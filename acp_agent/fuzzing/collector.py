"""When the handler of a signal may not raise: while the garbage collector calls back, as it does into Hypothesis, what
it raises is printed and lost; while an agent is being started, nobody knows of the process yet who could end it.
Such a handler leaves a mark, which is looked at after each conversation.

Deliberately absent: what a signal means (commands.py, workers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_CALLBACK: Final = "gc_callback"
_held: list[None] = []


@contextmanager
def held() -> Iterator[None]:
    """Until its end no handler raises: a process is started and written down as one step."""
    _held.append(None)
    try:
        yield
    finally:
        _held.pop()


def may_raise(frame: FrameType | None) -> bool:
    """Whether a handler may raise now. frame: as it was given it."""
    return not _held and not in_collector(frame)


def in_collector(frame: FrameType | None) -> bool:
    """Whether a handler was called within such a callback. frame: as the handler was given it."""
    while frame is not None:
        if frame.f_code.co_name == _CALLBACK:
            return True
        frame = frame.f_back
    return False
