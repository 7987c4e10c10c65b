"""Lines that a person types, or that a pipe or a file holds, read without keeping anybody else waiting.

Reads only while somebody waits for a line, so what is typed during a turn stays with the terminal, which also edits
the line until Enter. Deliberately absent: history and cursor keys; the terminal's own editing is enough for a test
drive, works over every connection and can't leave the terminal in a strange mode.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final

_READ_BYTES: Final = 64 * 1024


class Keyboard:
    """The lines of one descriptor, on the running event loop. The descriptor stays open and in its mode."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = b""
        self._at_end = False
        self.is_terminal = os.isatty(descriptor)

    async def line(self) -> str | None:
        """The next line without its line end, None at the end of the input. One caller at a time."""
        while b"\n" not in self._unread and not self._at_end:
            await self._read()
        if not self._unread:
            return None
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def forget_typed(self) -> None:
        """Drop what was typed before now, on a terminal: it can't be meant as the answer to a later question."""
        if self.is_terminal:
            import termios  # not there on every system, and only needed here

            with contextlib.suppress(termios.error):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
            self._unread = b""

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def ready() -> None:
            # Kept here and not in the future: who waits may be cancelled between the reading and the waking.
            if not future.done():
                self._read_now()
                future.set_result(None)

        try:
            loop.add_reader(self._descriptor, ready)
        except OSError:
            # epoll refuses regular files and the null device, which never wait.
            self._read_now()
            return
        try:
            await future
        finally:
            loop.remove_reader(self._descriptor)

    def _read_now(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_BYTES)
        except OSError:  # a terminal that is gone says EIO
            data = b""
        self._unread += data
        self._at_end = not data
