"""JSON both ways, with orjson: strict when reading, compact and always encodable when writing.

Owns what is refused as JSON (not UTF-8, a byte order mark, NaN, nesting without end) and what happens to lone
surrogates, which JSON can spell ("\\ud83d") but UTF-8 can't carry: editors that cut a string in the middle of
a character send them. They are read as U+FFFD, so that such a prompt is answered rather than lost.
Deliberately absent: envelopes (messages.py).
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

# Patterns, compiled (and kept by `re`) when the first line needs them: most connections never do.
# An escaped surrogate; the only spelling that is valid JSON and that orjson refuses.
_SURROGATE_ESCAPE: Final = rb"\\u[dD][89a-fA-F]"
# Backslashes up to an escaped surrogate, with the second half if there is one. A pair of backslashes is an escape of
# its own, so an even number of them means that what follows is plain text. Nothing else of a line is touched.
_SURROGATES: Final = (
    rb"(?P<slashes>\\+)"
    rb"(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_SURROGATE: Final = "[\ud800-\udfff]"


class DecodeError(ValueError):
    """The line is not JSON. The text says why and where, never what the line held."""


def decode(line: bytes) -> Any:
    """One JSON value from one line of UTF-8. Raises DecodeError.

    A lone surrogate becomes U+FFFD, except in the top-level `id`: an id that can't be echoed must be refused, so it
    is given as a string that UTF-8 can't carry.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if re.search(_SURROGATE_ESCAPE, line) is None:
            raise DecodeError(error.msg) from None
    value = _decode_replacing(line, b"\\ufffd")
    id_ = value.get("id") if isinstance(value, dict) else None
    # Was U+FFFD there, or has it been put there? With another replacement only the second kind changes.
    if isinstance(id_, str) and "\ufffd" in id_ and _decode_replacing(line, b"?")["id"] != id_:
        value["id"] = "\ud800"
    return value


def encode(message: Any) -> bytes:
    """One compact line of UTF-8, LF at its end. NaN and the infinities become null, as JavaScript has it.

    Raises ValueError for what JSON can't hold.
    """
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
        return re.sub(_SURROGATE, "\ufffd", value)
    if isinstance(value, dict):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_surrogates(item) for item in value]
    return value


def _decode_replacing(line: bytes, replacement: bytes) -> Any:
    """Decode with every lone surrogate escape spelled otherwise; the same parser, so the same rules for the rest."""

    def respelled(found: re.Match[bytes]) -> bytes:
        slashes = found["slashes"]
        is_lone = len(slashes) % 2 == 1 and found["pair"] is None
        return slashes[:-1] + replacement if is_lone else found[0]

    repaired = re.sub(_SURROGATES, respelled, line)
    try:
        return orjson.loads(repaired)
    except orjson.JSONDecodeError as error:
        raise DecodeError(error.msg) from None
