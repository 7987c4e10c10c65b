"""Nothing a client sends becomes markup, hides, or turns the text around it."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.harness.markup import count, size, text


@given(st.text())
def test_text_never_opens_or_closes_anything(value: str) -> None:
    """As content of an element, and of an attribute in either kind of quotes."""
    shown = text(value)
    assert not set(shown) & set("<>\"'")
    assert html.unescape(shown.replace("&", "&")) is not None
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x00b\x1b[1m", "a␀b␛[1m"),
        ("evil\u202egnp.exe", "evil⟨U+202E⟩gnp.exe"),
        ("\udc80", "⟨U+DC80⟩"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("漢字 ü 👩", "漢字 ü 👩"),
    ],
)
def test_what_would_not_be_seen_is_spelled_out(value: str, shown: str) -> None:
    """Controls as pictures, marks of direction by their number; everything else as it is."""
    assert text(value) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    """The length is of the text, not of its escapes."""
    assert text("&" * 30, 10) == "&amp;" * 10 + "… (20 more characters)"


def test_numbers_have_their_nouns_and_units() -> None:
    """One rule, two rules; bytes in powers of 1024."""
    assert [count(1, "rule"), count(2, "rule"), count(0, "entry", "entries")] == [
        "1 rule",
        "2 rules",
        "0 entries",
    ]
    assert [size(9), size(2048), size(16 * 1024 * 1024)] == ["9 B", "2.0 KiB", "16.0 MiB"]
