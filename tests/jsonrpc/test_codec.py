"""JSON both ways: what is refused when reading, and that what is written is always one line of UTF-8."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.jsonrpc.codec import DecodeError, decode, encode, replace_surrogates
from acp_agent.jsonrpc.messages import read_id

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"nonsense",
        b"",
        b"{} {}",
        b"{}x",
        b'{"a":1,}',
        b"{'a':1}",
        b'"raw \x01 control"',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'"\xff"',
        b'"\xed\xa0\xbd"',
        b"[" * 100_000,
        b'{"a":1e400}',
        b'"\\ud83d" NaN',
        b'["\\ud83d", NaN]',
        b'["\\ud83d", "\xff"]',
        b'["\\ud83"]',
        b"[" * 50_000 + b'"\\ud83d"' + b"]" * 50_000,
    ],
)
def test_what_is_not_json_in_utf8_is_refused(line: bytes) -> None:
    """Strict decode, strict parse: no NaN, no byte order mark, one value, no nesting without end (R-001)."""
    with pytest.raises(DecodeError) as caught:
        decode(line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'"a\ud83db"', "a\ufffdb"),
        (rb'"\ude00"', "\ufffd"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\uD83D\uDE00"', "\U0001f600"),
        (rb'"\ud83d\ude00 and \ud83d"', "\U0001f600 and \ufffd"),
        (rb'["\\ud83d", "\ud83d"]', ["\\ud83d", "\ufffd"]),
        (rb'["\\\ud83d"]', ["\\\ufffd"]),
        (rb'{"\ud83d": {"\ude00": [1, "\ud83d\u0041"]}}', {"\ufffd": {"\ufffd": [1, "\ufffdA"]}}),
    ],
)
def test_a_lone_surrogate_reads_as_the_replacement_character(line: bytes, value: Any) -> None:
    """Half a character, as editors send it, does not lose the message."""
    assert decode(line) == value


def test_a_lone_surrogate_deep_inside_reads_as_deep_as_anything() -> None:
    """The depth that is read does not depend on what is in the strings."""
    plain, half = b"[" * 900 + b'"x"' + b"]" * 900, b"[" * 900 + b'"\\ud83d"' + b"]" * 900
    assert orjson.loads(plain) is not None
    value = decode(half)
    for _ in range(900):
        (value,) = value
    assert value == "\ufffd"


@pytest.mark.parametrize(
    ("line", "usable"),
    [
        (rb'{"id":"\ud83d","method":"m"}', False),
        (rb'{"id":"\ufffd","method":"\ud83d"}', True),
        (b'{"id":"\xef\xbf\xbd","method":"\\ud83d"}', True),
        (rb'{"id":"\ud83d\ude00","method":"\ud83d"}', True),
        (rb'{"id":"?\ud83d","method":"\ud83d"}', False),
        (rb'{"id":7,"method":"\ud83d"}', True),
    ],
)
def test_an_id_with_half_a_character_is_no_id(line: bytes, usable: bool) -> None:
    """Decision 3: it can't be echoed, so it must not be taken for another id."""
    assert read_id(decode(line)["id"])[0] is usable


def test_integers_are_exact_and_the_last_of_two_keys_wins() -> None:
    """Ids use the whole of int64; duplicate object keys are read as the last of them."""
    assert decode(b"[9007199254740993,-9223372036854775808]") == [9007199254740993, -(2**63)]
    assert decode(b'{"a":1,"a":2}') == {"a": 2}


@given(VALUES)
def test_what_is_written_reads_back_from_one_line(value: Any) -> None:
    """R-004: compact, one line, LF at its end."""
    line = encode(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == value


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner), max_leaves=8))
def test_text_with_lone_surrogates_can_be_written(value: Any) -> None:
    """A model or a file name may hold half a character; the line is UTF-8 all the same."""
    assert json.loads(encode(value).decode("utf-8")) == replace_surrogates(value)


@pytest.mark.parametrize("value", [{1: 2}, object(), 2**70, [b"bytes"], {"a": {1, 2}}])
def test_what_json_cannot_hold_is_an_error_and_not_a_line(value: Any) -> None:
    """Nothing half-written, and one exception type for all of it."""
    with pytest.raises(ValueError, match="not encodable as JSON"):
        encode(value)


def test_a_value_without_end_is_an_error() -> None:
    """Recursion has a limit of its own."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="not encodable as JSON"):
        encode(value)
    with pytest.raises(ValueError, match="not encodable as JSON"):
        encode(["\ud83d", value])


@given(st.binary())
def test_no_bytes_make_decoding_raise_anything_else(line: bytes) -> None:
    """Bad input is data, not a crash."""
    with contextlib.suppress(DecodeError):
        decode(line)
