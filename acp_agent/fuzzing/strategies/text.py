"""Text as people, models and files hold it: characters of every length in UTF-8, marks, separators, controls.

Deliberately absent: bytes that are no text (wire.py).
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

PIECES: Final = (
    "é",  # two bytes
    "€",  # three
    "😀",  # four
    "e\u0301",  # a combining mark
    "👩\u200d👩\u200d👧",  # joined
    "שלום",  # right to left
    "\u2028",  # a line end to JavaScript
    "\u2029",
    "\u0085",  # a line end to Python
    "\ufeff",  # a byte order mark in the middle
    "\0",
    "\x1b[31m",
    "\x7f",
    "\r\n",
    "\r",
    "\n",
    "\t",
    "\ufffd",
    "\U0010ffff",
    "\\",
    '"',
    "'",
    "/",
    "{}",
    "%s",
    "</s>",
)
"""Each a trap that some program has fallen into."""

LONE_SURROGATES: Final = ("\ud83d", "\ude00")
"""Halves of a pair. JSON can spell them by an escape, UTF-8 can't hold them."""

WORDS: Final = ("a", "hello", "two words", "x" * 40, "naïve café 😀")

ENCODABLE: Final = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from((*WORDS, *PIECES)), min_size=1, max_size=6).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
"""Text that UTF-8 can carry. What it shrinks to is `a`."""

ANY: Final = st.one_of(
    ENCODABLE, st.lists(st.sampled_from((*WORDS, *PIECES, *LONE_SURROGATES)), max_size=6).map("".join)
)
"""Any text that JSON can spell, halves of surrogate pairs too."""
