"""Text that a terminal prints and does not obey.

Owns the one rule for what others said and we show on one line: what is not printable becomes U+FFFD. Deliberately
absent: spelling it out, so that nothing is lost, as a conversation is shown (client/screen.py).
"""

from __future__ import annotations


def printable(text: str, but: str = "") -> str:
    """The text with every character that is not printable, those of `but` aside, as U+FFFD: one for one."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in but else "\ufffd" for char in text)
