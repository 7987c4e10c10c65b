"""The read_file tool: some lines of a text file, within a bound.

Owns what of a file is shown and how the model gets the rest. Lines end with LF; a CR before it is shown,
because hiding it would make every later edit a guess. A byte-order mark is not shown. Absent on purpose:
guessing at encodings; what is not UTF-8 is refused, and bash can convert it.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import threading
from pathlib import Path

from acp_agent.tools import paths
from acp_agent.tools.base import Arguments, Counted, ToolError, ToolKind, ToolResult, number, text

MAX_BYTES = 65_536
MAX_LINES = 2_000
_SNIFF_BYTES = 8_192
_INLINE_BYTES = 1_048_576
"""Files up to this size are read on the loop, which takes less time than waking a thread for it."""
_NEVER = threading.Event()


class ReadFileTool:
    """Lines `offset` (from 1) to `offset + limit - 1`, at most MAX_LINES and MAX_BYTES."""

    name = "read_file"
    kind: ToolKind = "read"
    counts_as: Counted = "file operation"
    needs_permission = True
    description = (
        "Read a UTF-8 text file. Without offset and limit it begins at the first line; "
        f"at most {MAX_LINES} lines and {MAX_BYTES} bytes are given, then a note says how to read on."
    )
    parameters: dict[str, object] = {  # noqa: RUF012 - the protocol of Tool is read-only
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file; a relative path begins at the working directory.",
            },
            "offset": {"type": "integer", "minimum": 1, "description": "First line to read; the first is 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read."},
        },
        "required": ["path"],
    }

    def title(self, arguments: Arguments) -> str:
        return f"read_file: {text(arguments, 'path')}"

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        return paths.locations(arguments.get("path"), cwd)

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Read. Raises ToolError for what is not a readable UTF-8 file, and an offset past its end."""
        path = paths.absolute(text(arguments, "path"), cwd)
        offset = int(number(arguments, "offset", 1))
        limit = min(int(number(arguments, "limit", MAX_LINES)), MAX_LINES)
        try:
            if path.stat().st_size <= _INLINE_BYTES:
                return ToolResult(_read(path, offset, limit, _NEVER))
        except OSError as error:
            raise paths.failure(error, path) from error
        stop = threading.Event()
        try:
            return ToolResult(await asyncio.to_thread(_read, path, offset, limit, stop))
        finally:
            stop.set()  # cancelled: the thread would go on through gigabytes for nobody


def _read(path: Path, offset: int, limit: int, stop: threading.Event) -> str:
    try:
        with open(paths.open_to_read(path), "rb") as file:  # noqa: PTH123 - a descriptor
            beginning = file.peek(_SNIFF_BYTES)[:_SNIFF_BYTES]
            if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise ToolError(
                    f"{path} is UTF-16 text, not UTF-8; convert it with bash, for example with iconv."
                )
            if b"\0" in beginning:
                raise _binary(path)
            _skip(file, path, offset, stop)
            return _window(file, path, offset, limit)
    except OSError as error:
        raise paths.failure(error, path) from error


def _skip(file: io.BufferedReader, path: Path, offset: int, stop: threading.Event) -> None:
    line = 1
    inside = False
    while line < offset:
        piece = file.readline(MAX_BYTES)
        if not piece or stop.is_set():
            break
        inside = not piece.endswith(b"\n")
        line += not inside
    if offset > 1 and not file.peek(1):
        lines = line if inside else line - 1
        raise ToolError(
            f"{path} has {lines} line{'' if lines == 1 else 's'}; offset {offset} is past its end."
        )


def _window(file: io.BufferedReader, path: Path, offset: int, limit: int) -> str:
    kept = bytearray()
    lines = 0
    cut = False
    while lines < limit:
        room = MAX_BYTES - len(kept)
        piece = file.readline(room + 1)
        if not piece:
            break
        if len(piece) > room:
            # Whole lines only, but for a first line that is too long by itself.
            cut = lines == 0
            kept += piece[:room] if cut else b""
            break
        kept += piece
        lines += 1
    else:
        piece = file.peek(1)
    if b"\0" in kept:
        raise _binary(path)
    try:
        shown, _ = codecs.utf_8_decode(kept, "strict", not cut)
    except UnicodeDecodeError as error:
        line = offset + kept.count(b"\n", 0, error.start)
        raise ToolError(
            f"{path} is not UTF-8 text (byte 0x{kept[error.start]:02X} in line {line}); "
            "use bash to convert it or to look at it, for example with iconv or xxd."
        ) from error
    if offset == 1:
        shown = shown.removeprefix("\ufeff")
        if not kept:
            return "[the file is empty]"
    if cut:
        return (
            f"{shown}\n[line {offset} is longer than {MAX_BYTES} bytes and was cut here; "
            f"read its rest with bash, the next line with offset {offset + 1}]"
        )
    if piece:
        following = offset + lines
        return (
            f"{shown}[lines {offset} to {following - 1}; the file goes on, read it with offset {following}]"
        )
    return shown


def _binary(path: Path) -> ToolError:
    return ToolError(f"{path} is a binary file; use bash to look at it, for example with file or xxd.")
