"""Files: what a client that serves them reads and writes, byte by byte, and what it refuses.

Deliberately absent: unsaved text in an editor, which only a person can make; and what a client does with a read whose
lines end with CR LF, since an editor may keep other line ends in its buffers.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Final

from acp_agent.harness.asked import ANSWER_S, Answer
from acp_agent.harness.scenario import scenario
from acp_agent.harness.scratch import scratch
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn

_READS: Final = ("fs.readTextFile",)
_WRITES: Final = ("fs.writeTextFile",)
_LINES: Final = "one\ntwo\nthree\nfour\nfive\n"
_POLL_S: Final = 0.2
_NOTICE_S: Final = 6.0
"""How long an editor may take to notice that a file has changed on the disk."""

_SLICES: Final[tuple[tuple[dict[str, int], tuple[str, ...]], ...]] = (
    ({"line": 1}, (_LINES,)),
    ({"line": 2}, ("two\nthree\nfour\nfive\n",)),
    ({"line": 1, "limit": 1}, ("one\n", "one")),
    ({"line": 2, "limit": 2}, ("two\nthree\n", "two\nthree")),
    ({"line": 5, "limit": 10}, ("five\n", "five")),
    ({"limit": 3}, ("one\ntwo\nthree\n", "one\ntwo\nthree")),
    ({"limit": 1000}, (_LINES,)),
)
"""Params, and what may be answered: whether the last line of a slice keeps its line end is not said anywhere."""

_CONTENTS: Final = (
    ("plain text", "first\nsecond\n"),
    ("CR LF", "first\r\nsecond\r\n"),
    ("no final line end", "first\nsecond"),
    ("emoji and other scripts", "👩‍🚀 ü € 漢字 עברית\n"),
    ("nothing", ""),
    ("blanks at the ends", "  first  \n\n\tsecond\t\n\n"),
)


async def _read(turn: StagedTurn, path: Path, **params: Any) -> Answer:
    return await turn.call("fs/read_text_file", path=str(path), **params).answer()


def _put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def _way_around(path: Path, directory: Path) -> Path:
    """The path of a file outside that begins inside."""
    return directory / os.path.relpath(os.path.realpath(path), os.path.realpath(directory))


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


@scenario(
    "fs/read",
    "A file of several scripts without a final line end, an empty one, and one in a directory with an odd name",
    rules=("R-209",),
    needs=_READS,
    survives=("R-209",),
)
async def read(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        odd = directory / "a dir with 'quotes' & ü"
        odd.mkdir()
        for name, content in (("text", "ü € 漢字 🚀\nno end"), ("empty", ""), ("odd", "found\n")):
            path = _put((odd if name == "odd" else directory) / f"{name}.txt", content)
            answer = await _read(turn, path)
            expected = f"the content {content!r} of {path.name}"
            stage.check("R-209", answer.member("content") == content, expected, answer)
    turn.end()


@scenario(
    "fs/read-missing",
    "A file that does not exist, and a directory",
    rules=("R-210",),
    needs=_READS,
    survives=("R-210",),
)
async def read_missing(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        for path in (directory / "gone.txt", directory / "no" / "such" / "directory.txt", directory):
            answer = await _read(turn, path)
            what = "a directory" if path == directory else path.name
            stage.check("R-210", answer.code is not None, f"an error, for {what} is no file", answer)
    turn.end()


@scenario(
    "fs/read-lines",
    "Lines are counted from 1, and limited",
    rules=("R-209",),
    needs=_READS,
    survives=("R-209",),
)
async def read_lines(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        path = _put(directory / "lines.txt", _LINES)
        for params, accepted in _SLICES:
            answer = await _read(turn, path, **params)
            expected = f"{accepted[0]!r} for {params}"
            stage.check("R-209", answer.member("content") in accepted, expected, answer)
        beyond = await _read(turn, path, line=1000, limit=1)
        ok = beyond.code is not None or beyond.member("content") == ""
        stage.check("R-209", ok, "nothing, or an error, for a line beyond the end", beyond)
        nulls = await _read(turn, path, line=None, limit=None)
        whole = nulls.member("content") == _LINES
        stage.check("R-209", whole, "the whole file when line and limit are null", nulls)
    turn.end()


@scenario(
    "fs/read-again-after-a-change",
    "A file changes on the disk between two reads",
    rules=("R-209",),
    needs=_READS,
    survives=("R-209",),
)
async def read_again_after_a_change(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        path = _put(directory / "changing.txt", "before\n")
        first = await _read(turn, path)
        stage.check("R-209", first.member("content") == "before\n", "the content before the change", first)
        _put(path, "after, and longer\n")
        # An editor that watches the disk may be a little behind.
        for _ in range(int(_NOTICE_S / _POLL_S)):
            second = await _read(turn, path)
            if second.member("content") != "before\n":
                break
            await stage.pause(_POLL_S)
        fresh = second.member("content") == "after, and longer\n"
        stage.check("R-209", fresh, "the new content, for nobody has edited the file in the client", second)
    turn.end()


@scenario(
    "fs/many-at-once",
    "Twenty files are read at once, one of them large",
    rules=("R-209", "R-016"),
    needs=_READS,
    survives=("R-209",),
)
async def many_at_once(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        contents = [f"file {number}\n" * (60_000 if number == 7 else 1) for number in range(20)]
        paths = [_put(directory / f"{number}.txt", content) for number, content in enumerate(contents)]
        asked = [turn.call("fs/read_text_file", path=str(path)) for path in paths]
        answers = await stage.answers(asked, within_s=2 * ANSWER_S)
        for path, content, answer in zip(paths, contents, answers, strict=True):
            stage.check("R-016", answer.arrived, f"an answer for {path.name}", answer)
            own = answer.member("content") == content
            stage.check("R-209", own, f"the content of {path.name}, not of another file", answer)
    turn.end()


async def _write(stage: Stage, turn: StagedTurn, path: Path, text: str, rule: str, what: str) -> None:
    """Have a file written; the answer is R-212's matter, what then stands on the disk the rule's."""
    answer = await turn.call("fs/write_text_file", path=str(path), content=text).answer()
    stage.check("R-212", answer.is_result, f"success for {what}", answer)
    found = _bytes_of(path)
    expected = f"the bytes {text.encode()!r} on the disk ({what})"
    saw = "no file" if found is None else repr(found[:200])
    stage.check(rule, found == text.encode(), expected, saw, answer.number)


@scenario(
    "fs/write-new",
    "New files are written, each with other content, and stand on the disk byte for byte",
    rules=("R-211", "R-212"),
    needs=_WRITES,
    ask="Allow the files to be written, if you are asked.",
    survives=("R-211",),
)
async def write_new(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        for number, (what, text) in enumerate(_CONTENTS):
            await _write(stage, turn, directory / f"new-{number}.txt", text, "R-211", what)
    turn.end()


@scenario(
    "fs/write-over",
    "A file that exists is written over: by something shorter, by other line ends, by nothing",
    rules=("R-211", "R-212"),
    needs=_WRITES,
    ask="Allow the files to be written, if you are asked.",
    survives=("R-212",),
)
async def write_over(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        path = _put(directory / "existing.txt", "an old content that is rather long\n" * 20)
        for what, text in (("something short", "new\n"), ("CR LF", "a\r\nb\r\n"), ("nothing", "")):
            await _write(stage, turn, path, text, "R-211", what)
    turn.end()


@scenario(
    "fs/write-then-read",
    "What was written is what is read, before and after it changes again",
    rules=("R-209", "R-212"),
    needs=(*_READS, *_WRITES),
    ask="Allow the files to be written, if you are asked.",
    survives=("R-209",),
)
async def write_then_read(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        path = directory / "both.txt"
        for text in ("first version\n", "second version, which is longer\n", "3\n"):
            written = await turn.call("fs/write_text_file", path=str(path), content=text).answer()
            stage.check("R-212", written.is_result, "success", written)
            answer = await _read(turn, path)
            stage.check("R-209", answer.member("content") == text, f"the content {text!r}", answer)
    turn.end()


@scenario(
    "fs/unknown-session",
    "A file is asked for in the name of a session that does not exist",
    rules=("R-083",),
    needs=_READS,
    survives=("R-083",),
)
async def unknown_session(stage: Stage) -> None:
    turn = await stage.prompt()
    with scratch(stage, turn) as directory:
        path = _put(directory / "private.txt", "not for everybody\n")
        params = {"sessionId": "no-such-session", "path": str(path)}
        answer = await stage.call("fs/read_text_file", params, on_purpose=True).answer()
        expected = "an error, for no session of this name has any directories"
        stage.check("R-083", answer.code is not None, expected, answer)
    turn.end()


@scenario(
    "fs/outside-the-session",
    "A file outside the session's directory is read",
    rules=("R-083",),
    needs=_READS,
    ask="Allow nothing outside your project, if you are asked.",
    survives=("R-083",),
)
async def outside_the_session(stage: Stage) -> None:
    turn = await stage.prompt()
    with (
        tempfile.TemporaryDirectory(prefix="acp-harness-outside-") as outside,
        scratch(stage, turn) as directory,
    ):
        path = _put(Path(outside) / "outside.txt", "outside\n")
        for way in (path, _way_around(path, directory)):
            answer = await _read(turn, way)
            stage.check("R-083", answer.code is not None, f"an error for {way}, which is outside", answer)
    turn.end()
