"""A line is the JSON value that the standard library reads in it, or one DecodeError; what is written reads back.

Documented: `decode` raises DecodeError, `encode` ValueError for what JSON cannot hold. Lone surrogates are read as
U+FFFD, but in an id as what no id can be.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st
from strategies.json_values import ODD_VALUES, SPELLINGS, spelled

from acp_agent.jsonrpc.codec import DecodeError, decode, encode
from acp_agent.jsonrpc.messages import read_id

_MESSAGES = st.fixed_dictionaries({"id": ODD_VALUES, "params": ODD_VALUES}) | ODD_VALUES
_GOOD = st.builds(spelled, _MESSAGES, SPELLINGS)
_DAMAGE = st.sampled_from(
    [
        *(bytes([one]) for one in b'{}[]":,\\u09eE+-.tfn \t\r'),
        b"\\ud83d",
        b"\\u",
        b"\xff",
        b"\xef\xbb\xbf",
        b"NaN",
        b"1e999",
    ]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good line with some bytes taken out, put in or in other places."""
    line = draw(_GOOD)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        taken = draw(st.integers(0, 3))
        line = line[:at] + draw(_DAMAGE | st.just(b"")) + line[at + taken :]
    return line


cases = st.fixed_dictionaries({"line": damaged() | st.binary(max_size=30)})


def check(case: Any) -> None:
    """Read the line with both, write what it holds, read that."""
    line = case["line"]
    try:
        value = decode(line)
    except DecodeError as error:
        assert "\n" not in str(error)
        assert not _read_by_another(line), "the other reader takes it"
        return
    written = encode(value)
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    again = decode(written)
    assert again == _whole(value)
    expected = _read_by_library(line)
    if isinstance(value, dict) and isinstance(value.get("id"), str) and not read_id(value["id"])[0]:
        assert "\\ud" in line.decode().lower()
        value, expected = {**value, "id": 0}, {**expected, "id": 0}
    assert value == expected
    assert repr(value) == repr(expected)  # 1 is not true and not 1.0


def _read_by_another(line: bytes) -> bool:
    """Whether the line is good beyond doubt: the other reader is laxer in some points."""
    if b"NaN" in line or b"Infinity" in line or line.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        text = line.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return "inf" not in repr(value)


def _read_by_library(line: bytes) -> Any:
    """The standard library's reading, with our choices: integers beyond 64 bits are floats, no half characters."""
    text = line.decode()
    return _whole(json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refused))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {_whole(key): value for key, value in pairs}


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _integer(text: str) -> int | float:
    value = int(text)
    return value if -(2**63) <= value < 2**64 else float(value)


def _refused(text: str) -> float:
    raise AssertionError(f"{text} is no JSON")
