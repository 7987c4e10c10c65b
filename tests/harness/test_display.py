"""The display record is read as it is written, and leniently: a client that writes nonsense is not a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.harness.display import Display, read_display

RECORDS = (
    {"kind": "message", "turn": None, "text": "Long ago. ", "replay": True},
    {"kind": "message", "turn": 1, "text": "One, "},
    {"kind": "thought", "turn": 1, "text": "Hm."},
    {"kind": "message", "turn": 1, "text": "two."},
    {"kind": "message", "turn": 1, "text": 7},
    {"kind": "end", "turn": 1, "stopReason": "end_turn", "text": "One, two."},
    {"kind": "message", "turn": 2, "text": "Three."},
    {"kind": "end", "turn": 2, "stopReason": ["refusal"]},
)


def test_records_are_found_by_kind_turn_and_history() -> None:
    """Replayed history is apart from what is said today."""
    display = Display(RECORDS)
    assert [record["text"] for record in display.of("message", 1)] == ["One, ", "two.", 7]
    assert [record["text"] for record in display.of("message", replay=True)] == ["Long ago. "]
    assert display.text("message") == "One, two.Three."
    assert display.text("message", replay=True) == "Long ago. "


@pytest.mark.parametrize(
    ("turn", "text", "reason"), [(1, "One, two.", "end_turn"), (2, "Three.", None), (3, "", None)]
)
def test_a_turn_is_what_its_end_says_or_what_was_shown(turn: int, text: str, reason: str | None) -> None:
    """A client need not repeat the whole text at the end, nor end a turn that did not end."""
    display = Display(RECORDS)
    assert (display.turn_text(turn), display.stop_reason(turn)) == (text, reason)


def test_a_record_is_read_line_by_line_and_what_is_none_is_counted(tmp_path: Path) -> None:
    """Half a line at the end is what a client leaves that was ended."""
    path = tmp_path / "display.jsonl"
    path.write_bytes(
        b'{"kind":"message","text":"a"}\n\n[1]\n{"kind":5}\nnoise\n\xff\xfe\n{"kind":"end"}\n{"kind":"mes'
    )
    display = read_display(path)
    assert display is not None
    assert [record["kind"] for record in display.records] == ["message", "end"]
    assert display.unreadable == 5


@pytest.mark.parametrize("content", [None, b"", b"noise\n"])
def test_a_client_that_keeps_no_record_has_none(tmp_path: Path, content: bytes | None) -> None:
    """Then the display rules are not exercised."""
    path = tmp_path / "display.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert read_display(path) is None
