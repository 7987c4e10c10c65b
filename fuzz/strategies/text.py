"""Text as people, models and files really hold it, and the bytes it may come as.

Lone surrogates are in it: JSON can spell them, and editors that cut in the middle of a character send them.
"""

from __future__ import annotations

from hypothesis import strategies as st

ODD_PIECES = (
    "é",
    "€",
    "😀",
    "e\u0301",  # a combining mark
    "👩‍👩‍👧",
    "ש",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\0",
    "\x1b[31m",
    "\x7f",
    "\r\n",
    "\r",
    "\n",
    "\t",
    " ",
    "\u00a0",
    "\ufffd",
    "\U0010ffff",
    "\\",
    '"',
    "'",
    "`",
    "</s>",
)
LONE = ("\ud83d", "\ude00", "\udfff")

PIECES = st.sampled_from(("a", "b c", "x" * 40, *ODD_PIECES))

ENCODABLE = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12), st.lists(PIECES, max_size=8).map("".join)
)
"""Text that UTF-8 can carry."""

ANY = st.one_of(
    ENCODABLE,
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.lists(PIECES | st.sampled_from(LONE), max_size=8).map("".join),
)
"""Any text at all, half of a surrogate pair included."""

BYTES = st.one_of(
    ENCODABLE.map(str.encode),
    st.binary(max_size=40),
    st.lists(
        PIECES.map(str.encode)
        | st.sampled_from([b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"caf\xe9"]),
        max_size=8,
    ).map(b"".join),
)
"""Bytes that are text, nearly text, or anything."""
