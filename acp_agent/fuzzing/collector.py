"""Signals that come while the garbage collector calls back, as it does into Hypothesis: what their handlers raise then
is printed and lost. Deliberately absent: what a signal means (commands.py, workers.py).
"""

from __future__ import annotations

from types import FrameType
from typing import Final

_CALLBACK: Final = "gc_callback"


def in_collector(frame: FrameType | None) -> bool:
    """Whether a handler was called within such a callback. frame: as the handler was given it."""
    while frame is not None:
        if frame.f_code.co_name == _CALLBACK:
            return True
        frame = frame.f_back
    return False
