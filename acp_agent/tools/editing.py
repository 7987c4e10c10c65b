"""The edit_file tool: one exact piece of text replaced, everything else left byte for byte.

Owns what counts as a match. Text matches exactly, with one exception that every editor makes: a line end
the model writes as LF matches the file's own, LF or CRLF, and LF in the replacement becomes the line end
of the place it is put. A model that spells out a CR means it, and gets what it wrote, untranslated.
Overlapping matches count, because a choice between them is a guess. Absent on purpose: fuzzy matching.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import Path

from acp_agent.tools import paths
from acp_agent.tools.base import Arguments, Counted, ToolError, ToolKind, ToolResult, text
from acp_agent.tools.writing import (
    Permit,
    content_of,
    diff_of,
    encoded,
    replace,
    target,
    with_permit,
)

MAX_BYTES = 32 * 1024 * 1024
_MAX_COUNT = 1_000
_MAX_LINES_NAMED = 5


def matches(body: str, old: str, *, overlapping: bool) -> list[tuple[int, int]]:
    """Find `old` in `body`: (start, end) in body, first to last.

    overlapping: every place it begins at, up to _MAX_COUNT + 1 of them; else from left to right as
    str.replace would, all of them.
    """
    crlf_ends: list[int] = []
    if "\n" in old and "\r" not in old:
        # Where, in the text with LF only, the line ends stand that are CRLF in the file.
        crlf_ends = [found.start() - count for count, found in enumerate(re.finditer("\r\n", body))]
        body = body.replace("\r\n", "\n") if crlf_ends else body
    places: list[tuple[int, int]] = []
    at = body.find(old)
    while at >= 0 and not (overlapping and len(places) > _MAX_COUNT):
        end = at + len(old)
        places.append((at + bisect_left(crlf_ends, at), end + bisect_left(crlf_ends, end)))
        at = body.find(old, at + 1 if overlapping else end)
    return places


def replaced(body: str, places: list[tuple[int, int]], old: str, new: str) -> str:
    """Put `new` at each of the places, with line ends as the module says."""
    pieces = []
    done = 0
    for start, end in places:
        if "\r" not in old and "\r" not in new:
            start, end, piece = _changed_part(body, start, end, old, new)
        else:
            piece = new
        pieces += [body[done:start], piece]
        done = end
    return "".join([*pieces, body[done:]])


def _changed_part(body: str, start: int, end: int, old: str, new: str) -> tuple[int, int, str]:
    """Narrow a match down to what differs, so that the lines around it keep their own line ends."""
    shorter = min(len(old), len(new))
    same = 0
    while same < shorter and old[same] == new[same]:
        start += 2 if body[start] != old[same] else 1  # CR LF in the file for LF in old
        same += 1
    same_end = 0
    while same_end < shorter - same and old[-1 - same_end] == new[-1 - same_end]:
        end -= 2 if old[-1 - same_end] == "\n" and body[end - 2 : end] == "\r\n" else 1
        same_end += 1
    piece = new[same : len(new) - same_end]
    if "\n" in piece:
        piece = piece.replace("\n", _line_end_near(body, start))
    return start, end, piece


def _line_end_near(body: str, at: int) -> str:
    """The line end of the line at this place; after the last line, of the line before; else LF."""
    feed = body.find("\n", at)
    if feed < 0:
        feed = body.rfind("\n")
    return "\r\n" if feed > 0 and body[feed - 1] == "\r" else "\n"


class EditFileTool:
    """Replace old_text, which must occur exactly once, or all of it with replace_all."""

    name = "edit_file"
    kind: ToolKind = "edit"
    counts_as: Counted = "file operation"
    needs_permission = True
    description = (
        "Replace a piece of text in a UTF-8 file. old_text must match exactly, white space and "
        "indentation too, and occur once; give enough lines around the change, or set replace_all."
    )
    parameters: dict[str, object] = {  # noqa: RUF012 - the protocol of Tool is read-only
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file; a relative path begins at the working directory.",
            },
            "old_text": {"type": "string", "description": "The text to replace."},
            "new_text": {"type": "string", "description": "The text to put there; empty to delete."},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence; false if absent."},
        },
        "required": ["path", "old_text", "new_text"],
    }

    def title(self, arguments: Arguments) -> str:
        return f"edit_file: {text(arguments, 'path')}"

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        return paths.locations(arguments.get("path"), cwd)

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Edit. Raises ToolError, the file untouched, unless the text is found as it has to be."""
        path = paths.absolute(text(arguments, "path"), cwd)
        old, new = text(arguments, "old_text"), text(arguments, "new_text")
        encoded(old, "old_text")
        encoded(new, "new_text")
        if not old:
            raise ToolError("old_text is empty; to write a whole file use write_file.")
        if old == new:
            raise ToolError("old_text and new_text are the same; nothing would change.")
        replace_all = arguments.get("replace_all") is True
        return await with_permit(lambda permit: _edit(path, old, new, replace_all, permit))


def _edit(path: Path, old: str, new: str, replace_all: bool, permit: Permit) -> ToolResult:
    place = target(path)
    if place.found is None:
        raise ToolError(f"{path} does not exist; to make a file use write_file.")
    raw = content_of(place.path, MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ToolError(f"{path} is larger than {MAX_BYTES} bytes; edit it with bash, for example with sed.")
    try:
        whole = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ToolError(
            f"{path} is not UTF-8 text (byte 0x{raw[error.start]:02X} in line {line}) and was not changed; "
            "edit it with bash, for example with sed."
        ) from error
    body = whole.removeprefix("\ufeff")
    places = matches(body, old, overlapping=not replace_all)
    lines = [body.count("\n", 0, start) + 1 for start, _ in places[:_MAX_LINES_NAMED]]
    if not places:
        raise ToolError(
            f"old_text does not occur in {path}. It must match exactly, white space too; read the file again."
        )
    if len(places) > 1 and not replace_all:
        raise ToolError(_ambiguous(path, len(places), lines))
    edited = replaced(body, places, old, new)
    if edited == body:
        raise ToolError(
            f"The edit would change nothing in {path}: its line ends are those of new_text already."
        )
    replace(place, whole[: len(whole) - len(body)].encode() + edited.encode(), permit)
    if len(places) == 1:
        output = f"replaced 1 occurrence in {path} (line {lines[0]})"
    else:
        output = f"replaced {len(places)} occurrences in {path}"
    return ToolResult(output, diff=diff_of(path, raw, edited))


def _ambiguous(path: Path, count: int, lines: list[int]) -> str:
    counted = str(count) if count <= _MAX_COUNT else f"more than {_MAX_COUNT}"
    named = ", ".join(map(str, lines)) + (", ..." if count > len(lines) else "")
    return (
        f"old_text occurs {counted} times in {path} (at lines {named}); "
        "add lines around it until it occurs once, or set replace_all."
    )
