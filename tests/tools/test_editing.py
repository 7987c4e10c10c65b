"""edit_file: exact, unique, and everything else byte for byte; against a plain model of what an edit is."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_agent.tools.base import ToolError, ToolResult
from acp_agent.tools.editing import EditFileTool, matches, replaced


def edit(path: Path, old: str, new: str, **more: object) -> ToolResult:
    arguments = {"path": path.name, "old_text": old, "new_text": new, **more}
    return asyncio.run(EditFileTool().run(arguments, path.parent))


def file_with(folder: Path, content: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(content)
    return path


def refusal(path: Path, old: str, new: str, **more: object) -> str:
    """The sentence of a refused edit; the file must be untouched."""
    before = path.read_bytes()
    with pytest.raises(ToolError) as caught:
        edit(path, old, new, **more)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    return str(caught.value)


# The model: a text is a list of (as in the file, as it is compared). Nothing is shared with the code.

Token = tuple[str, str]


def tokens(text: str, *, literal: bool) -> list[Token]:
    if literal:
        return [(one, one) for one in text]
    return [(one, "\n" if one == "\r\n" else one) for one in re.findall(r"\r\n|[\s\S]", text)]


def model_places(body: str, old: str) -> list[int]:
    literal = "\r" in old or "\n" not in old
    whole = [compared for _, compared in tokens(body, literal=literal)]
    return [at for at in range(len(whole)) if "".join(whole[at : at + len(old)]) == old]


def model_edit(body: str, at: int, old: str, new: str) -> str:
    """Replace at token `at`: keep the tokens that old and new share at both ends, translate what is new."""
    literal = "\r" in old or "\n" not in old
    whole = tokens(body, literal=literal)
    matched = whole[at : at + len(old)]
    before = "".join(raw for raw, _ in whole[:at])
    after = "".join(raw for raw, _ in whole[at + len(old) :])
    if "\r" in old or "\r" in new:
        return before + new + after
    front: list[str] = []
    while matched and new and matched[0][1] == new[0]:
        front.append(matched.pop(0)[0])
        new = new[1:]
    back: list[str] = []
    while matched and new and matched[-1][1] == new[-1]:
        back.insert(0, matched.pop()[0])
        new = new[:-1]
    rest = "".join(raw for raw, _ in matched) + "".join(back) + after
    ends = re.findall(r"\r?\n", rest)[:1] or re.findall(r"\r?\n", before + "".join(front))[-1:] or ["\n"]
    return before + "".join(front) + new.replace("\n", ends[0]) + "".join(back) + after


bodies = st.lists(st.sampled_from(["x", "y", "é", "\n", "\r\n", "\r", "\0"]), max_size=14).map("".join)
olds = st.lists(st.sampled_from(["x", "y", "é", "\n", "\r\n"]), min_size=1, max_size=4).map("".join)
news = st.lists(st.sampled_from(["x", "y", "z", "\n", "\r\n"]), max_size=5).map("".join)


@given(body=bodies, old=olds, new=news)
@example(body="x\nx\nx\n", old="x\nx", new="y")
@example(body="x\r\ny\nx", old="x\ny\nx", new="x\nz\ny\nx")
@example(body="\r\r\nx", old="\nx", new="\n\nx")
@example(body="x\r", old="x", new="x\n")
def test_an_edit_is_what_the_plain_model_says(body: str, old: str, new: str) -> None:
    """Exact, unique, all other bytes unchanged; line ends of the place."""
    expected = model_places(body, old)
    found = matches(body, old, overlapping=True)
    assert len(found) == len(expected)
    for place, at in zip(found, expected, strict=True):
        assert replaced(body, [place], old, new) == model_edit(body, at, old, new)


lf_texts = st.lists(st.sampled_from(["x", "y", "é", "\n"]), max_size=14).map("".join)
lf_olds = st.lists(st.sampled_from(["x", "y", "\n"]), min_size=1, max_size=3).map("".join)


@given(body=lf_texts, old=lf_olds, new=lf_texts)
def test_replace_all_goes_from_left_to_right(body: str, old: str, new: str) -> None:
    """In text with one kind of line end it is str.replace, seen through that line end."""
    for line_end in ["\n", "\r\n"] if "\n" in body else ["\n"]:
        text = body.replace("\n", line_end)
        found = matches(text, old, overlapping=False)
        assert replaced(text, found, old, new) == body.replace(old, new).replace("\n", line_end)


def test_one_occurrence_is_replaced_and_told(tmp_path: Path) -> None:
    """The result names the line, the diff has both whole texts."""
    path = file_with(tmp_path, b"one\ntwo\nthree")
    result = edit(path, "two", "2")
    assert path.read_bytes() == b"one\n2\nthree"
    assert result.output == f"replaced 1 occurrence in {path} (line 2)"
    assert not result.failed
    assert result.diff is not None
    assert (result.diff.path, result.diff.old_text, result.diff.new_text) == (
        str(path),
        "one\ntwo\nthree",
        "one\n2\nthree",
    )


def test_text_that_is_not_unique_is_refused_with_the_count(tmp_path: Path) -> None:
    """A clear error that names the count and the lines; replace_all does all."""
    path = file_with(tmp_path, b"a\nb\na\na\n")
    assert "occurs 3 times" in refusal(path, "a", "c")
    assert "at lines 1, 3, 4" in refusal(path, "a", "c")
    assert edit(path, "a", "c", replace_all=True).output == f"replaced 3 occurrences in {path}"
    assert path.read_bytes() == b"c\nb\nc\nc\n"


def test_overlapping_occurrences_are_ambiguous(tmp_path: Path) -> None:
    """B311: `x x x` with old `x x` is refused."""
    path = file_with(tmp_path, b"x\nx\nx\n")
    assert "occurs 2 times" in refusal(path, "x\nx", "y")


def test_a_piece_that_is_everywhere_is_counted_up_to_a_bound(tmp_path: Path) -> None:
    """Counting does not take longer than anybody wants to know."""
    path = file_with(tmp_path, b"x" * 5000)
    assert "occurs more than 1000 times" in refusal(path, "x", "y")


def test_a_crlf_file_is_edited_with_lf_text(tmp_path: Path) -> None:
    """B312: multi-line LF old text matches, the replacement gets CRLF, all other bytes are equal."""
    path = file_with(tmp_path, b"one\r\ntwo\r\nthree\r\nfour")
    edit(path, "two\nthree\n", "2\nand a half\n3\n")
    assert path.read_bytes() == b"one\r\n2\r\nand a half\r\n3\r\nfour"
    edit(path, "four", "four\nfive")
    assert path.read_bytes().endswith(b"3\r\nfour\r\nfive")


def test_a_crlf_file_is_edited_with_crlf_text(tmp_path: Path) -> None:
    """B312: what read_file showed can be given back as it was."""
    path = file_with(tmp_path, b"one\r\ntwo\r\n")
    edit(path, "one\r\ntwo\r\n", "1\r\n2\r\n")
    assert path.read_bytes() == b"1\r\n2\r\n"
    edit(path, "1\r\n", "1\n")
    assert path.read_bytes() == b"1\n2\r\n"


def test_mixed_line_ends_stay_where_they_are(tmp_path: Path) -> None:
    """Lines that the edit only passes over keep their line ends."""
    path = file_with(tmp_path, b"a\r\nb\nc\r\nd\n")
    edit(path, "a\nb\nc\nd\n", "a\nb\nNEW\nc\nd\n")
    assert path.read_bytes() == b"a\r\nb\nNEW\r\nc\r\nd\n"


@pytest.mark.parametrize("content", [b"last", b"\xef\xbb\xbflast", b"\xef\xbb\xbfx\r\nlast"])
def test_bom_and_a_missing_final_line_end_are_kept(tmp_path: Path, content: bytes) -> None:
    """B317, and no final newline: only the piece changes."""
    path = file_with(tmp_path, content)
    result = edit(path, "last", "end")
    assert path.read_bytes() == content.replace(b"last", b"end")
    assert result.diff is not None
    assert "\ufeff" not in (result.diff.old_text or "") + result.diff.new_text


def test_a_file_that_is_not_utf_8_is_refused_and_unchanged(tmp_path: Path) -> None:
    """B314: a Latin-1 file, an ASCII line: bytes never change."""
    path = file_with(tmp_path, "caf\xe9\nplain\n".encode("latin-1"))
    assert "is not UTF-8 text (byte 0xE9 in line 1)" in refusal(path, "plain", "x")


def test_what_makes_no_sense_is_one_sentence(tmp_path: Path) -> None:
    """Empty old text, no change, text that is not there, half a character."""
    path = file_with(tmp_path, b"one\r\ntwo")
    assert "old_text is empty" in refusal(path, "", "x")
    assert "are the same" in refusal(path, "one", "one")
    assert "does not occur" in refusal(path, "three", "x")
    assert "would change nothing" in refusal(path, "one\ntwo", "one\r\ntwo")
    assert "new_text holds half of a surrogate pair" in refusal(path, "one", "\ud800")


def test_a_missing_file_and_a_folder_are_one_sentence(tmp_path: Path) -> None:
    """Missing file, directory."""
    with pytest.raises(ToolError, match="does not exist; to make a file use write_file"):
        edit(tmp_path / "absent", "a", "b")
    with pytest.raises(ToolError, match="is a directory, not a file"):
        edit(tmp_path, "a", "b")


def test_an_edit_goes_through_links_and_keeps_the_mode(tmp_path: Path) -> None:
    """B316: the link stays a link, the executable bit stays."""
    path = file_with(tmp_path, b"one")
    path.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(path)
    edit(link, "one", "two")
    assert link.is_symlink()
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole file is held in memory, so there is a bound, and a way that has none."""
    monkeypatch.setattr("acp_agent.tools.editing.MAX_BYTES", 10)
    assert "is larger than 10 bytes; edit it with bash" in refusal(file_with(tmp_path, b"x" * 11), "x", "y")
