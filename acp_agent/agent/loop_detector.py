"""Notices that a turn goes round in circles: the same tool calls again and again.

Owns what counts as a repetition. A cycle is 1, 2 or 3 calls in a row (A, A B, A B C); it has been repeated k times when
the newest calls are k copies of it and nothing else: A A A is one call three times, A B A B A B two calls three times.
What the calls gave back does not matter, only what was asked. Deliberately absent: what a warning or an end does.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple

import orjson

LONGEST_CYCLE: Final = 3

# Beyond this arguments are compared as text; orjson writes no deeper ones anyway.
_MAX_DEPTH: Final = 200


class LoopAction(StrEnum):
    """What is to be done with a call."""

    OK = "ok"
    WARN = "warn"
    STOP = "stop"


class LoopVerdict(NamedTuple):
    """text: for WARN what goes before the call's result, with its line end; for STOP why the turn ends; else ""."""

    action: LoopAction
    text: str = ""


_OK: Final = LoopVerdict(LoopAction.OK)


class LoopDetector:
    """Watches the tool calls of one turn."""

    def __init__(self, warn_at: int = 3, stop_at: int = 5) -> None:
        """How many repetitions of a cycle bring a warning, and how many the end; 0: never, 1: any call at all."""
        self._warn_at = warn_at
        self._stop_at = stop_at
        self._recent: deque[tuple[str, bytes | str]] = deque(maxlen=LONGEST_CYCLE)
        # For each length of a cycle: how many of the newest calls equal the call that many places before.
        self._matches = [0] * (LONGEST_CYCLE + 1)

    def observe(self, name: str, arguments_json: str) -> LoopVerdict:
        """Judge a call before it runs; one that is stopped does not run.

        arguments_json: as the model gave them. Equal JSON values are the same arguments, whatever their spelling;
        what is not JSON is compared as text.
        """
        call = (name, _key(arguments_json))
        cycle, times = 1, 1
        for length in range(1, LONGEST_CYCLE + 1):
            same = len(self._recent) >= length and self._recent[-length] == call
            self._matches[length] = self._matches[length] + 1 if same else 0
            copies = self._matches[length] // length + 1
            if copies > times:
                cycle, times = length, copies
        self._recent.append(call)
        if self._stop_at and times >= self._stop_at:
            return LoopVerdict(LoopAction.STOP, f"loop detected: {_sentence(name, cycle, times)}")
        if self._warn_at and times >= self._warn_at:
            end = f" At {self._stop_at} times the turn ends." if self._stop_at else ""
            return LoopVerdict(
                LoopAction.WARN,
                f"[warning: {_sentence(name, cycle, times)}. Calling it again will not help: try something else, "
                f"or say what is in the way.{end}]\n",
            )
        return _OK


def _sentence(name: str, cycle: int, times: int) -> str:
    of = f", in a cycle of {cycle} calls" if cycle > 1 else ""
    return f"{name} called {times} times with the same arguments{of}"


def _key(arguments_json: str) -> bytes | str:
    if not arguments_json.strip():
        return b"{}"  # no arguments at all, as the tools read it
    try:
        return orjson.dumps(_plain(orjson.loads(arguments_json), 0), option=orjson.OPT_SORT_KEYS)
    except ValueError:
        return arguments_json.strip()


def _plain(value: object, depth: int) -> object:
    """Give equal numbers one form: 3.0 is 3. Raises ValueError when it is nested too deeply."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {key: _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    return value
