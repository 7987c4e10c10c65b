"""A case as one line of text: what a target is given, written down so that it can be read, kept and given again.

A case is plain: None, booleans, numbers, text, bytes, lists, dicts with text as keys. JSON has no bytes, so they
stand as `{"$bytes": "..."}`, one character a byte; text with half a surrogate pair is escaped as JSON allows.
Deliberately absent: how cases come about (strategies/), and what is done with them (targets/).
"""

from __future__ import annotations

import json
from typing import Any, Final

_BYTES: Final = "$bytes"
_DICT: Final = "$dict"  # for a dict that looks like one of these two marks


def to_line(case: Any) -> str:
    """One line of ASCII without its end. Raises TypeError for what is not plain."""
    return json.dumps(_spelled(case), ensure_ascii=True, separators=(", ", ": "))


def from_line(line: str) -> Any:
    """The case that a line holds; tuples have become lists. Raises ValueError."""
    return _read(json.loads(line))


def _spelled(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: value.decode("latin-1")}
    if isinstance(value, list | tuple):
        return [_spelled(one) for one in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key of a case is a text")
        if value.keys() & {_BYTES, _DICT}:
            return {_DICT: [[key, _spelled(one)] for key, one in value.items()]}
        return {key: _spelled(one) for key, one in value.items()}
    return value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(one) for one in value]
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return value[_BYTES].encode("latin-1")
        if value.keys() == {_DICT}:
            return {key: _read(one) for key, one in value[_DICT]}
        return {key: _read(one) for key, one in value.items()}
    return value
