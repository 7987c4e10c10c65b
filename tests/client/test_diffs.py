"""Unified diffs: what `patch` would understand, for every kind of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.client.diffs import LONGEST_COMPARED_LINES, unified

TEXT = st.text(alphabet="ab\n\r\f\u2028", max_size=30)


def test_a_new_file_comes_from_nowhere() -> None:
    assert unified("f", None, "a\n") == ["--- /dev/null", "+++ f", "@@ -0,0 +1 @@", "+a"]


def test_an_empty_new_file_is_still_told() -> None:
    assert unified("f", None, "") == ["--- /dev/null", "+++ f"]


def test_a_change_is_shown_with_its_surroundings() -> None:
    assert unified("f", "one\ntwo\n", "one\n2\n") == [
        "--- f",
        "+++ f",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
    ]


def test_a_missing_last_line_end_is_told() -> None:
    missing = "\\ No newline at end of file"
    assert unified("f", "a", "b")[3:] == ["-a", missing, "+b", missing]


def test_no_change_is_nothing() -> None:
    assert unified("f", "a\n", "a\n") == []


def test_very_long_texts_are_counted_and_not_compared() -> None:
    """Comparing grows with the square of the lines."""
    lines = "".join(f"{number}\n" for number in range(LONGEST_COMPARED_LINES))
    shown = unified("f", lines, "x\n")
    assert len(shown) == 3
    assert f"{LONGEST_COMPARED_LINES} lines before, 1 lines after" in shown[2]


@pytest.mark.parametrize("old", ["a\r\nb\r\n", "a\fb\n", "a\u2028b\n"])
def test_only_line_feeds_end_lines(old: str) -> None:
    assert unified("f", old, old + "c\n")[3:] == [f" {line}" for line in old.split("\n")[:-1]] + ["+c"]


def keepends(text: str) -> list[str]:
    return [piece + "\n" for piece in text.split("\n")[:-1]] + (
        [text.split("\n")[-1]] if text[-1:] not in {"", "\n"} else []
    )


def patched(old: str, diff: list[str]) -> str:
    """What `patch` makes of the two."""
    before, after, position = keepends(old), [], 0
    for line, following in zip(diff[2:], [*diff[3:], ""], strict=True):
        text = line[1:] + ("" if following.startswith("\\") else "\n")
        if line.startswith("@@"):
            start, _, count = line.split()[1].removeprefix("-").partition(",")
            first = int(start) if count == "0" else int(start) - 1
            after += before[position:first]
            position = first
        elif line.startswith("+"):
            after.append(text)
        elif line.startswith((" ", "-")):
            assert before[position] == text
            position += 1
            if line.startswith(" "):
                after.append(text)
    return "".join(after + before[position:])


@given(TEXT, TEXT)
def test_a_diff_makes_the_new_text_of_the_old_one(old: str, new: str) -> None:
    diff = unified("f", old, new)
    assert (patched(old, diff) if diff else old) == new
