"""The bounded memory of a child's output: its head, its tail, and how much lay between.

Owns decoding and cutting. Absent on purpose: where the bytes come from, and any view of lines or
terminal control: every character a child wrote is kept as it is, NUL and escapes too, because the
encoder of the wire escapes them.
"""

from __future__ import annotations

import codecs


class OutputClip:
    """Takes bytes as they come, gives text of at most `limit_bytes` UTF-8 bytes and one note.

    The first half of the limit is the head, the rest the tail. Bytes that are not UTF-8 become U+FFFD
    when they arrive, so the limit holds for the text that is given, not only for what was read, and
    memory stays below about twice the limit however much is fed. The result does not depend on how
    the bytes were split.
    """

    def __init__(self, limit_bytes: int) -> None:
        if limit_bytes < 1:
            raise ValueError("limit_bytes must be at least 1")
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        """Take the next bytes, any slice of the stream."""
        self._keep(self._decoder.decode(data).encode())

    def finish(self) -> tuple[str, int]:
        """End the stream; return the text and the number of UTF-8 bytes left out of it (0: it is whole).

        The cut is told in the text, on a line of its own. Nothing may be fed afterwards.
        """
        self._keep(self._decoder.decode(b"", final=True).encode())
        tail_start = max(0, len(self._tail) - self._tail_limit)
        if len(self._head) + len(self._tail) == self._total and not tail_start:
            return (self._head + self._tail).decode(), 0
        # Both cuts may fall inside a character. What is kept is valid UTF-8 apart from that, so a
        # broken character at the end of the head is dropped, and continuation bytes that open the tail.
        head = self._head.decode(errors="ignore")
        tail = self._tail[tail_start:].decode(errors="ignore")
        left_out = self._total - len(head.encode()) - len(tail.encode())
        line_break = "" if not head or head.endswith("\n") else "\n"
        return f"{head}{line_break}[... {left_out} bytes left out ...]\n{tail}", left_out

    def _keep(self, data: bytes) -> None:
        self._total += len(data)
        if len(self._head) < self._head_limit:
            room = self._head_limit - len(self._head)
            self._head += data[:room]
            data = data[room:]
        if len(data) >= self._tail_limit:
            self._tail[:] = data[len(data) - self._tail_limit :]
            return
        self._tail += data
        # Cut only when twice the limit is held: cutting on every read would move the tail each time.
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: len(self._tail) - self._tail_limit]
