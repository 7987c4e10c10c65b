"""JSON both ways, with orjson: strict when reading, compact and always encodable when writing.

Owns what is refused as JSON (not UTF-8, a byte order mark, NaN, nesting without end) and what happens to lone
surrogates, which JSON can spell ("\\ud83d") but UTF-8 can't carry: editors that cut a string in the middle of
a character send them. They are read as U+FFFD, so that such a prompt is answered rather than lost.
Deliberately absent: envelopes (messages.py).
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import orjson

# An escaped surrogate; the only spelling that is valid JSON and that orjson refuses.
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class DecodeError(ValueError):
    """The line is not JSON. The text says why and where, never what the line held."""


def decode(line: bytes) -> Any:
    """One JSON value from one line of UTF-8. Raises DecodeError.

    A lone surrogate becomes U+FFFD, except in the top-level `id`: an id that can't be echoed must be refused.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if _SURROGATE_ESCAPE.search(line) is None:
            raise DecodeError(error.msg) from None
    return _decode_with_surrogates(line)


def encode(message: Any) -> bytes:
    """One compact line of UTF-8, LF at its end. Raises ValueError for what JSON can't hold."""
    try:
        return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A str with a lone surrogate; anything else fails again below.
        try:
            return orjson.dumps(replace_surrogates(message), option=orjson.OPT_APPEND_NEWLINE)
        except (TypeError, RecursionError) as error:
            raise ValueError(f"not encodable as JSON: {error}") from None


def replace_surrogates(value: Any) -> Any:
    """The same value with every lone surrogate in its strings replaced by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [replace_surrogates(item) for item in value]
    return value


def _decode_with_surrogates(line: bytes) -> Any:
    import json  # only for the rare line that orjson refuses

    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
        raise DecodeError(reason) from None
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return {key: item if key == "id" else replace_surrogates(item) for key, item in value.items()}
    return replace_surrogates(value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
