"""The same message in other bytes: other spellings of its JSON, cut into other writes; and lines that are no message.

All of the first two are legal, and a reader must not notice them. Deliberately absent: what a message holds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from hypothesis import strategies as st


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a line is written. The default is the usual compact one.

    escapes: characters beyond ASCII by their escapes. slash: `\\/` for `/`. letters: an escape for one plain letter.
    reverse: members in the other order. space: white space where JSON allows it. crlf: a CR before the LF.
    cuts: where a write ends; each counts from the beginning again where it is beyond the line's end. piece: the bytes
    of a write, 0 for no limit; a long line is not written in pieces.
    """

    escapes: bool = False
    slash: bool = False
    letters: bool = False
    reverse: bool = False
    space: str = ""
    crlf: bool = False
    cuts: tuple[int, ...] = ()
    piece: int = 0


PLAIN: Final = Spelling()
_LONGEST_IN_PIECES: Final = 2_000

SPELLINGS: Final = st.one_of(
    st.just(PLAIN),
    st.builds(Spelling, cuts=st.lists(st.integers(0, 500), min_size=1, max_size=6).map(tuple)),
    st.builds(Spelling, piece=st.sampled_from((1, 1, 1, 2, 7))),
    st.builds(
        Spelling,
        escapes=st.booleans(),
        slash=st.booleans(),
        letters=st.booleans(),
        reverse=st.booleans(),
        space=st.sampled_from(("", " ", "\t")),
        crlf=st.booleans(),
        cuts=st.lists(st.integers(0, 500), max_size=3).map(tuple),
    ),
)
"""Legal ways to write a line, the plain one first."""

NO_MESSAGES: Final = (
    b"",
    b"hello",
    b"{",
    b'{"jsonrpc":"2.0","id":1,"method":"initialize"',
    b"[]",
    b"[[]]",
    b"42",
    b"null",
    b'"x"',
    b"{}",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":5}',
    b'{"jsonrpc":"1.0","id":900001,"method":"session/new","params":{}}',
    b'{"id":900002,"method":"session/new","params":{}}',
    b'{"jsonrpc":"2.0","id":900003,"method":5}',
    b'{"jsonrpc":"2.0","id":900004,"result":1,"error":{}}',
    b'{"jsonrpc":"2.0","id":{},"method":"session/new","params":{}}',
    b'{"jsonrpc":"2.0","id":true,"method":"_x"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"_x"}',
    b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"_x"}',
    b'{"jsonrpc":"2.0","id":"\\ud83d","method":"_x"}',
    b'{"jsonrpc":"2.0","method":"_x","params":NaN}',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"_x"}',
    b'{"jsonrpc":"2.0","method":"\xff\xfe"}',
    b"\x00",
    b"\xe2\x82",
    b"[" * 600,
    b'{"a":' * 600,
    b'[{"jsonrpc":"2.0","id":900005,"method":"_x"},{"jsonrpc":"2.0","method":"_y"}]',
    b"<html><body>502</body></html>",
)
"""Lines that are no message, or one with a broken envelope."""

BROKEN_LINES: Final = st.one_of(
    st.sampled_from(NO_MESSAGES[:12]),  # one choice of several: bytes at random are the least of them
    st.sampled_from(NO_MESSAGES[12:]),
    st.binary(min_size=1, max_size=40).map(lambda data: data.replace(b"\n", b"\r")),
)


def spelled(message: Any, how: Spelling = PLAIN) -> bytes:
    """One line for a message, with its line end. Halves of surrogate pairs come as escapes."""
    if how.reverse:
        message = _reversed(message)
    space = how.space
    text = json.dumps(message, ensure_ascii=how.escapes, separators=(f"{space},{space}", f"{space}:{space}"))
    if how.letters:
        text = text.replace("x", "\\u0078")  # outside of strings JSON has no x
    if how.slash:
        text = text.replace("/", "\\/")
    plain = "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
    return f"{space}{plain}{space}".encode() + (b"\r\n" if how.crlf else b"\n")


def cut(line: bytes, how: Spelling = PLAIN) -> list[bytes]:
    """The line in the writes that the spelling asks for; cuts fall anywhere, inside a character and inside CRLF too."""
    places = {place % (len(line) + 1) for place in how.cuts}
    if how.piece and len(line) <= _LONGEST_IN_PIECES:
        places |= set(range(0, len(line), how.piece))
    bounds = sorted({0, len(line), *places})
    return [line[start:end] for start, end in pairwise(bounds)]


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(one) for one in value] if isinstance(value, list) else value
