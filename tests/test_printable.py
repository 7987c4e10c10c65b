"""Text of others, on one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_agent.printable import printable


def test_what_a_terminal_would_obey_is_replaced() -> None:
    """Escape sequences, line ends, other directions, half characters; letters of all scripts stay."""
    assert (
        printable("a\x1b[31m\r\nb\u202e\x9b\ud800 é 語 🆕")
        == "a\ufffd[31m\ufffd\ufffdb\ufffd\ufffd\ufffd é 語 🆕"
    )
    assert printable("a\tb\n", but="\t") == "a\tb\ufffd"


@given(st.text())
def test_any_text_becomes_printable_and_keeps_its_length(text: str) -> None:
    """One character for one; what is printable already is left alone."""
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) == len(text)
    assert printable(shown) == shown
