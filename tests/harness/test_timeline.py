"""The drawing has a row a message, folds what repeats, and says what it leaves out."""

from __future__ import annotations

from collections.abc import Callable

from acp_agent.harness.timeline import around, lanes
from acp_agent.harness.transcript import Entry


def rows(drawing: str) -> int:
    return drawing.count("<li ")


def test_each_message_is_on_its_sender_s_side(entries_of: Callable[[int], list[Entry]]) -> None:
    """The client's rows are of class c, the agent's of class a, what is no message of class n."""
    drawing = lanes([*entries_of(4), Entry(4, 0.1, "harness", "the client closes its output")])
    assert (drawing.count('<li class="c'), drawing.count('<li class="a'), drawing.count('<li class="n')) == (
        2,
        2,
        1,
    )


def test_a_mark_stands_at_its_message(entries_of: Callable[[int], list[Entry]]) -> None:
    """And is escaped as all else."""
    drawing = lanes(entries_of(3), {1: "✗ <breaks> R-154"})
    assert '<li class="a hit">' in drawing
    assert "✗ &lt;breaks&gt; R-154" in drawing


def test_a_run_of_one_kind_is_one_row_unless_a_mark_stands_in_it() -> None:
    """Two thousand chunks say nothing that one row cannot say."""
    chunks = [Entry(number, 0.0, "agent", "chunk", "{}", 2) for number in range(50)]
    assert rows(lanes(chunks)) == 1
    assert "50 × chunk" in lanes(chunks)
    assert rows(lanes(chunks, fold=False)) == 50
    marked = lanes(chunks, {20: "here"})
    assert rows(marked) == 3
    assert "20 × chunk" in marked
    assert "29 × chunk" in marked


def test_what_is_left_out_is_counted(entries_of: Callable[[int], list[Entry]]) -> None:
    """A gap in the numbers is a row of its own."""
    entries = entries_of(20)
    assert "7 messages left out" in lanes([entries[0], entries[1], entries[9]])


def test_a_long_message_is_folded_and_cut() -> None:
    """Its beginning is in sight, the kept part inside, and the page stays small."""
    long = Entry(0, 0.0, "client", "big", '{"text":"' + "<" * 1900, 16_000_000)
    drawing = lanes([long])
    assert "<details><summary>" in drawing
    assert "15.3 MiB" in drawing
    assert "\n…" in drawing
    assert len(drawing) < 20_000


def test_the_neighbourhood_of_evidence_is_shown_or_else_the_end(
    entries_of: Callable[[int], list[Entry]],
) -> None:
    """What went before is what explains it."""
    entries = entries_of(100)
    assert [entry.number for entry in around(entries, [50], 2, 1)] == [48, 49, 50, 51]
    assert [entry.number for entry in around(entries, [], 2, 1)] == [97, 98, 99]


def test_no_messages_is_an_empty_drawing() -> None:
    """A client that starts the agent and says nothing."""
    assert rows(lanes([])) == 0
