"""What Bob says to people: lines on standard error, never anything on the wire.

Owns the form of a line (`[acp] ...`) and that saying it never stops the agent: a client that does not drain standard
error costs it lines, not the turn. Deliberately absent: levels per module, handlers, files; `logging` would cost more
at start than all of it.
"""

from __future__ import annotations

import os
import select
import traceback
from typing import Final

from acp_agent.printable import printable

# What a pipe takes in one piece once poll() says that it takes anything.
_PIECE_BYTES: Final = 4096
_STDERR: Final = 2


class Log:
    """Lines on standard error. debug: also tracebacks, which are only of interest to a developer."""

    def __init__(self, *, debug: bool = False) -> None:
        self.debug_on = debug
        self._lost = 0
        self._poll = select.poll()
        self._poll.register(_STDERR, select.POLLOUT)

    def banner(self, line: str) -> None:
        """A line as it is."""
        self._write(line)

    def say(self, line: str) -> None:
        """One event, as `[acp] <line>`."""
        self._write(f"[acp] {line}")

    def trace(self, error: BaseException) -> None:
        """The traceback of an error, in debug only: its sentence has been said elsewhere."""
        if self.debug_on:
            for line in "".join(traceback.format_exception(error)).splitlines():
                self._write(line)

    def _write(self, line: str) -> None:
        if self._lost:
            note = f"[acp] {self._lost} line(s) lost: standard error was not read\n".encode()
            if not self._put(note):
                self._lost += 1
                return
            self._lost = 0
        # A control character in a name or a path must not act on the terminal that shows the log, nor make two lines.
        shown = printable(line, but="\t")
        if not self._put(f"{shown}\n".encode("utf-8", "replace")):
            self._lost += 1

    def _put(self, data: bytes) -> bool:
        """Write if the reader takes it now; False if the line had to be given up."""
        try:
            for start in range(0, len(data), _PIECE_BYTES):
                if not self._poll.poll(0):
                    return False
                os.write(_STDERR, data[start : start + _PIECE_BYTES])
        except OSError:
            return False
        return True
