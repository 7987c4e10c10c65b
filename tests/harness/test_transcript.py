"""The transcript: numbers that go on, texts and entries that are bounded, and labels for anything."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.transcript import Transcript, label_of


def test_entries_are_numbered_from_where_the_one_before_ended() -> None:
    """Scenarios that follow each other on one connection share the numbers."""
    transcript = Transcript(first_number=7)
    assert [transcript.add(0.12345, "client", "a", b'{"x":1}\n'), transcript.add(0.5, "agent", "b")] == [7, 8]
    assert transcript.next_number == 9
    first, second = transcript
    assert (first.t, first.text, first.size) == (0.1235, '{"x":1}', 8)
    assert (second.number, second.to_object()["label"]) == (8, "b")


def test_of_very_many_entries_the_first_and_the_last_stay() -> None:
    """And a long line is cut; its size is told."""
    transcript = Transcript()
    for number in range(10_000):
        transcript.add(number, "client", f"{number}", b"x" * 5000 if number == 9_999 else b"")
    numbers = [entry.number for entry in transcript]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1], len(numbers)) == (0, 9_999, 3_000)
    last = list(transcript)[-1]
    assert (len(last.text), last.size) == (2_000, 5_000)


@pytest.mark.parametrize(
    ("message", "answered", "label"),
    [
        (
            {"method": "session/update", "params": {"update": {"sessionUpdate": "plan"}}},
            None,
            "session/update plan",
        ),
        ({"method": "session/update", "params": {"update": {"sessionUpdate": 5}}}, None, "session/update"),
        ({"method": "x", "params": [1]}, None, "x"),
        ({"id": 1, "result": {}}, "session/new", "result of session/new"),
        ({"id": 1, "result": {}}, None, "result"),
        ({"id": 1, "error": {"code": -32601}}, "fs/read_text_file", "error -32601 of fs/read_text_file"),
        ({"id": 1, "error": "x"}, None, "error ?"),
        ([], None, "no message"),
        (None, None, "no message"),
    ],
)
def test_any_message_has_a_label(message: Any, answered: str | None, label: str) -> None:
    """In a few words."""
    assert label_of(message, answered) == label
