"""`@path` in a prompt: the files and directories a person points at, named to the model by their absolute paths.

Owns what of a text counts as a path. Whether it exists decides, so an address, a decorator or a handle stays what it
is unless a file has that very name. Deliberately absent: what is in the files; the model reads what it needs.

    @a/b.txt  @/etc/hosts  @~/notes.md      an unquoted path ends at white space
    @"a b.txt"  @'a b.txt'  @a\\ b.txt       quoted or escaped, a path may hold spaces
    (@a.txt), @a.txt.  @a.txt:12  @a.txt's  what follows is left off, but the longest name that exists wins
    me@example.com  @@x  \\@x  `@x`          no mentions, and neither is anything in a fenced block

A relative path has to stay below the session's directory: `..` counts as written, so `@src/../a` is `a`, and `@../a`
and the directory itself are left alone. Links are not followed to see where they lead. Pipes, sockets and devices
are no files here.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

MAX_LOOKUPS: Final = 4_096
"""How many names are looked up for one text; a paste full of @ is not worth more."""

_MAX_MENTIONS: Final = 16_384
_MAX_PATH_CHARS: Final = 1_024
# Names are tried at different lengths, again for each @ in them: this many characters in all, and no more.
# Those of escaped names count 8 times, which is what undoing the escapes takes.
_MAX_TRIED_CHARS: Final = 2_000_000
_FIRST_ENDS: Final = 16
_LAST_ENDS: Final = 8

# What stands before an @ in addresses, and in names and URLs that hold one.
_AT: Final = re.compile(r"(?<![A-Za-z0-9_+%/@\\-])@(?=[^@\s])")
_UNQUOTED: Final = re.compile(r"[^\s\\]*(?:\\.[^\s\\]*)*")
_ESCAPED: Final = re.compile(r"\\(.)")
_QUOTED: Final = {
    opening: re.compile(rf"([^{closing}\\\n]*(?:\\.[^{closing}\\\n]*)*){closing}")
    for opening, closing in ('""', "''", "“”", "‘’")
}
_LINK: Final = re.compile(r"\[attached (?:file|directory): [^\]\n]*\]")

# A path may end before most punctuation (a:12, a's, a,@b), and where a script without spaces follows it at once
# (Thai to Khmer, CJK, Hangul). Before what is common inside names it ends only if nothing else follows.
_BREAK: Final = re.compile(
    r"[^\w./~@%+=\\-]|(?<=[!-~])[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_TRAILING: Final = "./\\~@%+=-_!?,;:)]}>\"'`*|…。，、！？；：）】」』”’"

_TICKS: Final = re.compile(r"`+|\n[ \t]*\n")  # or the end of a paragraph
_FENCE: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


def attach(text: str, cwd: Path, home: Path) -> tuple[str, list[str]]:
    """Add a line for each path mentioned; return the new text and the absolute paths, in order, each once.

    cwd: absolute. A path that the text names already, as a resource link does, is not named again. Never raises:
    what cannot be looked up is no path. Looks up at most MAX_LOOKUPS names.
    """
    if "@" not in text:
        return text, []
    linked = "[attached " in text
    paths: dict[str, str] = {}
    for path, kind in _Search(text, cwd, home).mentions():
        if path in paths or (linked and _is_named(path, text)):
            continue
        paths[path] = f"\n[attached {kind}: {path}]"
    return text + "".join(paths.values()), list(paths)


def _is_named(path: str, text: str) -> bool:
    return f"[attached file: {path}]" in text or f"[attached directory: {path}]" in text


class _Search:
    """Looks up the mentions of one text, each name once and no more names than are allowed."""

    def __init__(self, text: str, cwd: Path, home: Path) -> None:
        self._text = text
        self._cwd = os.path.normpath(cwd)
        self._below = self._cwd.rstrip("/") + "/"
        self._home = str(home)
        self._known: dict[str, tuple[str, str] | None] = {}
        self._tried_chars = 0

    def mentions(self) -> Iterator[tuple[str, str]]:
        """(absolute path, file or directory), in the order of the text."""
        text = self._text
        taken = 0
        run_end = 0
        for match in islice(_AT.finditer(text), _MAX_MENTIONS):
            begin = match.end()
            if begin <= taken or _in_word(text, match.start()):
                continue
            if len(self._known) >= MAX_LOOKUPS or self._tried_chars >= _MAX_TRIED_CHARS:
                return
            quoted = _QUOTED.get(text[begin])
            if quoted is not None:
                found, end = self._quoted(quoted, begin)
            else:
                if begin >= run_end:
                    # Once for all mentions in a run without white space, which may be the whole text.
                    run = _UNQUOTED.match(text, begin)
                    run_end = run.end() if run else begin
                found, end = self._unquoted(text[begin : min(run_end, begin + _MAX_PATH_CHARS)], begin)
            if found is not None and not self._is_code(begin):
                taken = end
                yield found

    def _quoted(self, pattern: re.Pattern[str], begin: int) -> tuple[tuple[str, str] | None, int]:
        match = pattern.match(self._text, begin + 1, begin + _MAX_PATH_CHARS)
        if match is None or not match[1]:
            return None, begin
        return self._find(match[1]), match.end()

    def _unquoted(self, run: str, begin: int) -> tuple[tuple[str, str] | None, int]:
        for end in _ends(run):
            found = self._find(run[:end])
            if found is not None:
                return found, begin + end
        return None, begin

    def _find(self, name: str) -> tuple[str, str] | None:
        """Look for the name as it is escaped, else as it is written."""
        escaped = "\\" in name
        self._tried_chars += len(name) * 8 if escaped else len(name)
        if name in self._known:
            return self._known[name]
        if len(self._known) >= MAX_LOOKUPS:
            return None
        found = self._ask(_ESCAPED.sub(r"\1", name)) if escaped else None
        self._known[name] = found = found or self._ask(name)
        return found

    def _ask(self, name: str) -> tuple[str, str] | None:
        if name == "~" or name.startswith("~/"):
            path = os.path.normpath(self._home + name[1:])
        else:
            path = os.path.normpath(os.path.join(self._cwd, name))  # noqa: PTH118 - thousands of them
            if not name.startswith("/") and not (path.startswith(self._below) and path != self._cwd):
                return None
        # POSIX lets two slashes at the beginning mean something else than one; nobody who types them does.
        path = path.removeprefix("/") if path.startswith("//") else path
        kind = _kind(path)
        return None if kind is None else (path, kind)

    @cached_property
    def _code(self) -> tuple[list[int], list[int]]:
        """Where mentions do not count, as begins and ends: in code, and in the lines that resource links became."""
        regions = [*_code(self._text), *(match.span() for match in _LINK.finditer(self._text))]
        begins: list[int] = []
        ends: list[int] = []
        for begin, end in sorted(regions):
            if ends and begin < ends[-1]:
                ends[-1] = max(end, ends[-1])
            else:
                begins.append(begin)
                ends.append(end)
        return begins, ends

    def _is_code(self, position: int) -> bool:
        begins, ends = self._code
        before = bisect_right(begins, position) - 1
        return before >= 0 and position < ends[before]


def _kind(path: str) -> str | None:
    try:
        path.encode()  # half of a surrogate pair would name a file but could not be sent
        mode = os.stat(path).st_mode  # noqa: PTH116 - thousands of them
    except (OSError, ValueError):
        return None
    return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else None


def _in_word(text: str, at: int) -> bool:
    """True behind a letter of a script that puts spaces between words; in those that do not, a mention may follow."""
    before = text[at - 1] if at else " "
    return before.isalnum() and (before.lower() != before.upper() or before.isdigit())


def _ends(run: str) -> Iterator[int]:
    """Where a path that begins a run of text may end, the longest first; few of them in any text."""
    kept = len(run.rstrip(_TRAILING))
    first = [match.start() for match in islice(_BREAK.finditer(run, 1), _FIRST_ENDS)]
    trailing = range(max(kept, 1), len(run))
    last = {*trailing[:_LAST_ENDS], *trailing[-_LAST_ENDS:]}
    return iter(sorted({*first, *last, len(run)}, reverse=True))


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Find code in the Markdown sense: (begin, end) of fenced blocks and of spans between backticks."""
    position = 0
    fence: str | None = None
    begin = 0
    for match in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        marks, rest = match[1], match[2]
        if fence is None:
            if marks[0] == "`" and "`" in rest:
                continue  # a span of three backticks, not a block
            fence, begin = marks, match.start()
            yield from _spans(text, position, begin)
        elif marks.startswith(fence) and not rest.strip():
            yield begin, match.end()
            fence, position = None, match.end()
    if fence is not None:
        yield begin, len(text)
    else:
        yield from _spans(text, position, len(text))


def _spans(text: str, position: int, end: int) -> Iterator[tuple[int, int]]:
    """Code spans: from some backticks to as many again in the same paragraph."""
    first = text.find("`", position, end)
    if first < 0:
        return
    runs: list[tuple[int, int]] = []
    for match in _TICKS.finditer(text, first, end):
        if match[0][0] == "`":
            runs.append(match.span())
        elif runs:
            yield from _paired(text, runs)
            runs.clear()
    yield from _paired(text, runs)


def _paired(text: str, runs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if len(runs) < 2:
        return
    starts: dict[int, list[int]] = {}
    for start, end in runs:
        starts.setdefault(end - start, []).append(start)
    taken = 0
    for start, end in runs:
        # A backslash takes one backtick away from what begins a span, never from what ends it.
        begin = start + (start > 0 and text[start - 1] == "\\")
        if begin < taken or begin == end:
            continue
        same = starts.get(end - begin, [])
        closing = bisect_right(same, start)
        if closing < len(same):
            taken = same[closing] + end - begin
            yield begin, taken
