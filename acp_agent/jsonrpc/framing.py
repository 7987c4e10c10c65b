"""Bytes in, whole lines out: one message a line, ended by LF, with a limit on the length of a line.

Owns the bytes of an unfinished line. Deliberately absent: decoding, JSON, any reading of descriptors.
"""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024
# Slices below this are put together at once, so that a line that comes byte by byte costs its bytes and no more.
_SMALL_SLICE = 4096


class LineTooLong(NamedTuple):
    """Stands where a line over the limit was; the line's bytes are gone, the next line starts clean."""

    limit: int


class LineBuffer:
    """Cuts a byte stream into lines, whatever the slices it comes in.

    max_line_bytes: the longest line that is kept, without its line end. Over it one `LineTooLong` is given as
    soon as the limit is passed and the rest of that line is skipped, so an endless line costs no memory.
    A trailing CR is dropped and blank lines are not given (R-315, docs/decisions.md).
    """

    __slots__ = ("_held", "_max", "_parts", "_skipping")

    def __init__(self, max_line_bytes: int = DEFAULT_MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._parts: list[bytes] = []  # slices of the unfinished line, joined once at its end
        self._held = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | LineTooLong]:
        """Take the next slice of the stream; return the lines it completed, oldest first."""
        found: list[bytes | LineTooLong] = []
        pieces = data.split(b"\n")
        last = pieces.pop()
        for piece in pieces:
            self._take(piece, found)
            self._end_line(found)
        if last:
            self._take(last, found)
        return found

    def end(self) -> list[bytes | LineTooLong]:
        """End of the stream: a last line without its LF counts as a line."""
        found: list[bytes | LineTooLong] = []
        self._end_line(found)
        return found

    def _take(self, piece: bytes, found: list[bytes | LineTooLong]) -> None:
        if self._skipping:
            return
        # One byte of grace: a CR that belongs to the line end is not part of the line.
        if self._held + len(piece) > self._max + 1:
            self._skip(found)
            return
        if self._parts and len(self._parts[-1]) + len(piece) <= _SMALL_SLICE:
            self._parts[-1] += piece
        else:
            self._parts.append(piece)
        self._held += len(piece)

    def _end_line(self, found: list[bytes | LineTooLong]) -> None:
        if not self._skipping:
            line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            line = line.removesuffix(b"\r")
            if len(line) > self._max:
                self._skip(found)
            elif line and not line.isspace():
                found.append(line)
        self._parts.clear()
        self._held = 0
        self._skipping = False

    def _skip(self, found: list[bytes | LineTooLong]) -> None:
        self._parts.clear()
        self._held = 0
        self._skipping = True
        found.append(LineTooLong(self._max))
