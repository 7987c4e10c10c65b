"""Text from anywhere as HTML: escaped, with characters in sight that would not be, and cut to a length.

A client's messages are somebody else's bytes: they must neither become markup nor turn the text around them.
Deliberately absent: the layout (page.py, timeline.py).
"""

from __future__ import annotations

import html
import re
from typing import Final

# Controls, surrogates, and what changes the direction of the text around it; line feeds and tabs are layout.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_PICTURES: Final = 0x2400


def text(value: object, most: int = 2000) -> str:
    """A value as the content of an element or a quoted attribute. most: characters that are shown."""
    plain = str(value)
    left_out = len(plain) - most
    if left_out > 0:
        plain = plain[:most]
    shown = html.escape(_UNSEEN.sub(_picture, plain))
    return f"{shown}… ({left_out} more characters)" if left_out > 0 else shown


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 rule`, `2 rules`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def size(number: int) -> str:
    """A number of bytes for people."""
    if number < 1024:
        return f"{number} B"
    if number < 1024 * 1024:
        return f"{number / 1024:.1f} KiB"
    return f"{number / 1024 / 1024:.1f} MiB"


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(_PICTURES + code) if code < 0x20 else f"⟨U+{code:04X}⟩"
