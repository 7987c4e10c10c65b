"""An edit changes the file's bytes as a plain reading of them says, or fails with a sentence and changes none.

Documented: ToolError. LF in old_text matches CRLF too, and LF in new_text becomes the line end of its place, unless
the model spells out a CR; of a match only what differs is written. The plain model works on bytes and units of them.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from strategies.text import ANY

from acp_agent.tools.base import ToolError
from acp_agent.tools.editing import EditFileTool

_PIECES = st.sampled_from(
    ["a", "b", "ab", "a\n", "\n", "\r\n", "a\r\n", "\r", "\r\r\n", "é", "😀", "\ufeff", "  ", "aa", "\u2028"]
)
_LINES = st.lists(st.sampled_from(["a", "b", "", "é", "  ab"]), min_size=1, max_size=8)
_CONTENTS = st.one_of(
    st.builds(lambda lines, end: end.join([*lines, ""]).encode(), _LINES, st.sampled_from(["\r\n", "\n"])),
    st.lists(_PIECES, max_size=14).map(lambda pieces: "".join(pieces).encode()),
    st.lists(_PIECES, max_size=8).map(lambda pieces: ("\ufeff" + "".join(pieces)).encode()),
    st.binary(max_size=12),
)
_SHORT = st.lists(_PIECES, max_size=4).map("".join)


@st.composite
def _edits(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly an old text that is somewhere in the file, as a model would write it."""
    content = draw(_CONTENTS)
    text = content.decode("utf-8", "replace")
    begin = draw(st.integers(0, len(text)))
    there = text[begin : begin + draw(st.integers(1, 6))]
    old = draw(st.sampled_from([there, there, there.replace("\r\n", "\n")]) | _SHORT | ANY)
    kept = draw(st.integers(0, len(old)))
    new = draw(st.sampled_from([old[:kept], old[kept:]]) | _SHORT | ANY)
    if draw(st.booleans()):
        new = draw(st.sampled_from(["\n", "x\ny", new]))
        new = draw(st.sampled_from([old + new, new + old, old[:kept] + new + old[kept:]]))
    return {"content": content, "old": old, "new": new, "all": draw(st.booleans())}


cases = _edits()


def check(case: Any) -> None:
    """Edit a file, and its bytes by hand."""
    content, old, new = case["content"], case["old"], case["new"]
    expected = plain(content, old, new, replace_all=case["all"])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "f"
        path.write_bytes(content)
        arguments = {"path": "f", "old_text": old, "new_text": new, "replace_all": case["all"]}
        try:
            result = asyncio.run(EditFileTool().run(arguments, Path(place)))
        except ToolError as error:
            assert "\n" not in str(error)
            assert expected is None, str(error)
            assert path.read_bytes() == content
        else:
            assert expected is not None, result.output
            count, wanted = expected
            assert path.read_bytes() == wanted
            assert f"replaced {count} occurrence{'s' if count > 1 else ''} in {path}" in result.output
            assert result.diff is not None
            assert (result.diff.path, result.diff.old_text) == (str(path), _without_mark(content).decode())
            assert _without_mark(wanted).decode() in (result.diff.new_text, "\ufeff" + result.diff.new_text)
        assert list(Path(place).iterdir()) == [path], "something is left beside it"


def plain(content: bytes, old: str, new: str, *, replace_all: bool) -> tuple[int, bytes] | None:
    """How many places there are, and the bytes of the edited file; None if it may not be edited so."""
    try:
        content.decode()
        wanted, put = old.encode(), new.encode()
    except UnicodeError:
        return None
    body = _without_mark(content)
    places: list[tuple[int, list[bytes]]] = []
    at = 0
    while wanted and at < len(body):
        units = _match(body, at, wanted)
        if units is None:
            at += 1
            continue
        places.append((at, units))
        at += len(b"".join(units)) if replace_all else 1
    if not places or (len(places) > 1 and not replace_all):
        return None
    edited = bytearray()
    done = 0
    for at, units in places:
        edited += body[done:at] + _instead(body, at, units, wanted, put)
        done = at + len(b"".join(units))
    edited += body[done:]
    return None if edited == body else (len(places), content[: len(content) - len(body)] + edited)


def _match(body: bytes, at: int, wanted: bytes) -> list[bytes] | None:
    """What stands there, a unit for each byte that is wanted; None if something else stands there."""
    exact = b"\r" in wanted
    if not exact and body[at : at + 1] == b"\n" and body[at - 1 : at] == b"\r" and at:
        return None  # in the middle of a line end
    units = []
    for byte in wanted:
        unit = body[at : at + 1]
        if not exact and byte == 0x0A and body[at : at + 2] == b"\r\n":
            unit = b"\r\n"
        elif unit != bytes([byte]):
            return None
        units.append(unit)
        at += len(unit)
    return units


def _instead(body: bytes, at: int, units: list[bytes], wanted: bytes, put: bytes) -> bytes:
    if b"\r" in wanted or b"\r" in put:
        return put
    head = _shared(wanted, put)
    tail = _shared(wanted[head:][::-1], put[head:][::-1])
    before, after = b"".join(units[:head]), b"".join(units[len(units) - tail :])
    changed = put[head : len(put) - tail]
    return before + changed.replace(b"\n", _line_end(body, at + len(before))) + after


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes they begin with together."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _line_end(body: bytes, at: int) -> bytes:
    """That of the line at this place; after the last one, of the line before it."""
    rest = body[at:]
    line = body[: at + rest.index(b"\n") + 1] if b"\n" in rest else body[: body.rfind(b"\n") + 1]
    return b"\r\n" if line.endswith(b"\r\n") else b"\n"


def _without_mark(content: bytes) -> bytes:
    return content.removeprefix(b"\xef\xbb\xbf")
