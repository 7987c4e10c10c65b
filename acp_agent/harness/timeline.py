"""An exchange drawn as two lanes, the client's on the left and the agent's on the right, as HTML.

Owns the rows and what is folded: runs of messages of one kind, and the text of each. Deliberately absent: which
entries are shown (report.py), colours and lines (report.css).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from acp_agent.harness.markup import count, size, text
from acp_agent.harness.transcript import Entry

_CLASSES: Final = {"client": "c", "agent": "a"}
_PREVIEW: Final = 160
_WHOLE: Final = 2400
_RUN: Final = 4
_MOST_PRETTY_BYTES: Final = 1200


def around(entries: Sequence[Entry], about: Iterable[int], before: int = 6, after: int = 4) -> list[Entry]:
    """The entries near some of them; the last ones when it is about none."""
    wanted = set(about)
    if not wanted:
        return list(entries[-(before + after) :])
    near = {number + offset for number in wanted for offset in range(-before, after + 1)}
    return [entry for entry in entries if entry.number in near]


def lanes(entries: Sequence[Entry], marks: Mapping[int, str] | None = None, *, fold: bool = True) -> str:
    """The drawing. marks: the number of an entry to the words that stand at it, such as the rules it breaks.

    fold: join runs of messages of one kind into a row.
    """
    marks = marks or {}
    rows: list[str] = []
    expected = entries[0].number if entries else 0
    position = 0
    while position < len(entries):
        entry = entries[position]
        if entry.number > expected:
            rows.append(_note(f"{count(entry.number - expected, 'message')} left out"))
        run = _run(entries, position, marks) if fold else 1
        if run >= _RUN:
            rows.append(_joined(entries[position : position + run]))
        else:
            run = 1
            rows.append(_row(entry, marks.get(entry.number)))
        position += run
        expected = entries[position - 1].number + 1
    head = '<div class="lanehead" aria-hidden="true"><span>client</span><span>agent (harness)</span></div>'
    return f'<div class="lanes">{head}<ol>{"".join(rows)}</ol></div>'


def _run(entries: Sequence[Entry], position: int, marks: Mapping[int, str]) -> int:
    """How many entries from here on are of one kind, follow each other and carry no mark."""
    first, length = entries[position], 0
    for offset, entry in enumerate(entries[position:]):
        same = (entry.sender, entry.label) == (first.sender, first.label)
        if not same or entry.number != first.number + offset or entry.number in marks:
            break
        length += 1
    return length


def _row(entry: Entry, mark: str | None) -> str:
    side = _CLASSES.get(entry.sender)
    if side is None:
        return _note(entry.label, entry)
    arrow = '<i class="arrow" aria-hidden="true"></i>'
    head = (
        f'<span class="what">{text(entry.label, 120)}</span> '
        f'<span class="when">#{entry.number} · {entry.t:.3f} s · {size(entry.size)}</span>'
    )
    body = _body(entry)
    evidence = f'<p class="mark">{text(mark, 300)}</p>' if mark else ""
    box = f'<div class="box">{head}{body}{evidence}</div>'
    who = f'<span class="sr">{entry.sender}: </span>'
    row = f"{who}{box}{arrow}" if side == "c" else f"{who}{arrow}{box}"
    return f'<li class="{side}{" hit" if mark else ""}">{row}</li>'


def _body(entry: Entry) -> str:
    if not entry.text:
        return ""
    if len(entry.text) <= _PREVIEW:
        return f"<code>{text(entry.text)}</code>"
    cut = "" if entry.size <= len(entry.text.encode("utf-8", "replace")) + 2 else "\n…"
    whole = text(_pretty(entry.text), _WHOLE) + cut
    return (
        f"<details><summary><code>{text(entry.text[:_PREVIEW])}…</code></summary><pre>{whole}</pre></details>"
    )


def _pretty(line: str) -> str:
    """JSON with its members on lines of their own, unless it is long or none."""
    if len(line) > _MOST_PRETTY_BYTES:
        return line
    try:
        return orjson.dumps(orjson.loads(line), option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return line


def _joined(entries: Sequence[Entry]) -> str:
    first, last = entries[0], entries[-1]
    side = _CLASSES.get(first.sender)
    label = f"{len(entries)} × {first.label}"
    if side is None:
        return _note(label, first)
    head = (
        f'<span class="what">{text(label, 140)}</span> '
        f'<span class="when">#{first.number}–{last.number} · {first.t:.3f}–{last.t:.3f} s</span>'
    )
    arrow = '<i class="arrow" aria-hidden="true"></i>'
    box = f'<div class="box many">{head}</div>'
    return f'<li class="{side}">{f"{box}{arrow}" if side == "c" else f"{arrow}{box}"}</li>'


def _note(label: str, entry: Entry | None = None) -> str:
    when = f' <span class="when">#{entry.number} · {entry.t:.3f} s</span>' if entry else ""
    return f'<li class="n"><span>{text(label, 200)}{when}</span></li>'
