"""Text on a terminal or in a pipe: styles, line starts, and what an agent's text must not do to a terminal.

Owns the output stream and the knowledge of where the cursor's line stands. Deliberately absent: what is shown
(transcript.py) and any moving of the cursor, so that the output reads the same in a file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TextIO


class Style(StrEnum):
    """The looks there are; the values are SGR parameters."""

    PLAIN = ""
    DIM = "2"
    BOLD = "1"
    GOOD = "32"
    BAD = "31"
    HEAD = "36"
    ADDED = "32"
    REMOVED = "31"


# Everything a terminal obeys but line feed and tab, and the marks that turn the direction of writing, with which a
# command can be made to look like another one.
_OBEYED: Final = (
    *range(0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0x200E,
    0x200F,
    0x061C,
)
_ESCAPES: Final[Mapping[int, str]] = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED
}


def visible(text: str) -> str:
    """The text with every character a terminal would obey spelled out, CR LF read as LF."""
    return text.replace("\r\n", "\n").translate(_ESCAPES)


def output_lost(out: TextIO, error: OSError) -> None:
    """Nothing can be written any more. Says why on standard error, unless whoever read it has simply gone.

    Afterwards the interpreter has nothing to complain about when it flushes `out` at its end.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    if error.errno not in {errno.EPIPE, errno.EIO}:  # EIO: the terminal was closed
        print(f"acp-agent: the output can't be written: {error.strerror}", file=sys.stderr)


class Screen:
    """One output stream. is_terminal: text is made `visible` first. colour: styles are used."""

    def __init__(self, out: TextIO, *, is_terminal: bool, colour: bool) -> None:
        self._out = out
        self._is_terminal = is_terminal
        self._colour = colour
        self._at_line_start = True
        self._held_return = False

    @classmethod
    def on(cls, out: TextIO, environ: Mapping[str, str]) -> Screen:
        """A screen for this stream; colour on a terminal unless NO_COLOR is set or TERM says dumb."""
        is_terminal = out.isatty()
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        return cls(out, is_terminal=is_terminal, colour=is_terminal and not plain)

    def stream(self, text: str, style: Style = Style.PLAIN) -> None:
        """Text as it comes, white space kept, shown at once."""
        if self._held_return:
            self._held_return, text = False, "\r" + text
        if text.endswith("\r"):
            # It may be half of a line end that was cut in two.
            self._held_return, text = True, text[:-1]
        if text:
            self._write(text, style)
            self._out.flush()

    def line(self, text: str = "", style: Style = Style.PLAIN, indent: str = "") -> None:
        """Text on lines of its own, every one of them after the indent."""
        self.fresh_line()
        for one in text.split("\n"):
            self._write(indent, Style.PLAIN)
            self._write(one, style)
            self._write("\n", Style.PLAIN)
        self._out.flush()

    def ask(self, text: str) -> None:
        """Text that the cursor stays behind, for a person to answer."""
        self.fresh_line()
        self._out.write(text)
        self._out.flush()
        # The person's Enter ends the line on a terminal; in a pipe the next output stands behind the question.
        self._at_line_start = self._is_terminal

    def fresh_line(self) -> None:
        """End the line that the cursor is in, if something stands in it."""
        self._held_return = False
        if not self._at_line_start:
            self._out.write("\n")
            self._at_line_start = True

    def _write(self, text: str, style: Style) -> None:
        if not text:
            return
        if self._is_terminal:
            text = visible(text)
        self._at_line_start = text.endswith("\n")
        if self._colour and style:
            text = f"\x1b[{style}m{text}\x1b[0m"
        self._out.write(text)
