"""A change of a file as the unified diff that people know.

Deliberately absent: colours (screen.py) and where the two texts come from.
"""

from __future__ import annotations

from typing import Final

LONGEST_COMPARED_LINES: Final = 4000
"""Comparing takes time that grows with the square of the lines in the worst case; longer ones are only counted."""


def unified(path: str, old_text: str | None, new_text: str) -> list[str]:
    """The lines of a unified diff, without line ends; [] if nothing changes. old_text None: the file is new.

    Only LF ends a line, so CR, form feeds and the like stay in the text, to be made visible by whoever prints it.
    """
    before = [] if old_text is None else _lines(old_text)
    after = _lines(new_text)
    if before == after and old_text is not None:
        return []
    names = ["--- /dev/null" if old_text is None else f"--- {path}", f"+++ {path}"]
    if len(before) + len(after) > LONGEST_COMPARED_LINES:
        return [
            *names,
            f"@@ {len(before)} lines before, {len(after)} lines after: too long to compare here @@",
        ]
    import difflib  # only when there is a diff to show

    found = list(difflib.unified_diff(before, after, lineterm=""))[2:]
    marked: list[str] = []
    for line in found:
        if line.endswith("\n"):
            marked.append(line[:-1])
        else:
            marked.append(line)
            if not line.startswith("@@"):
                marked.append("\\ No newline at end of file")
    return [*names, *marked]


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    last = pieces.pop()
    return [piece + "\n" for piece in pieces] + ([last] if last else [])
