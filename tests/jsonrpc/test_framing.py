"""Lines out of a byte stream: whole, in order, whatever the slices; bounded; blank ones not given."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_agent.jsonrpc.framing import LineBuffer, LineTooLong


def lines_of(slices: list[bytes], limit: int = 64) -> list[bytes | LineTooLong]:
    buffer = LineBuffer(limit)
    found = [line for piece in slices for line in buffer.feed(piece)]
    return found + buffer.end()


def test_a_line_is_given_when_its_end_has_come() -> None:
    """R-004: one message a line, ended by LF."""
    buffer = LineBuffer()
    assert buffer.feed(b"ab") == []
    assert buffer.feed(b"c\nde\nf") == [b"abc", b"de"]
    assert buffer.end() == [b"f"]
    assert buffer.end() == []


def test_a_carriage_return_before_the_line_end_is_dropped() -> None:
    """R-315: CRLF is accepted when read; only one CR belongs to the line end."""
    assert lines_of([b"a\r\nb\r\r\n", b"c\r"]) == [b"a", b"b\r", b"c"]


def test_blank_lines_are_not_given() -> None:
    """Blank or space-only lines are ignored when reading."""
    assert lines_of([b"\n\r\n  \t \n", b"a\n\n", b" "]) == [b"a"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_of_exactly_the_limit_is_kept(end: bytes) -> None:
    """The limit counts what is in the line, not its end."""
    assert lines_of([b"x" * 64 + end]) == [b"x" * 64]
    assert lines_of([b"x" * 65 + end]) == [LineTooLong(64)]


def test_a_line_over_the_limit_is_reported_at_once_and_its_rest_is_skipped() -> None:
    """Over the limit: a clear error, the rest of that line is skipped, the next line is clean."""
    buffer = LineBuffer(8)
    assert buffer.feed(b"x" * 20) == [LineTooLong(8)]
    assert buffer.feed(b"y" * 2000) == []
    assert buffer.feed(b"z\ngood\n") == [b"good"]
    assert buffer.end() == []


def test_an_endless_line_costs_no_more_memory_than_the_limit() -> None:
    """Memory is bounded by the limit, also when every byte comes alone."""
    buffer = LineBuffer(100_000)
    for _ in range(99_999):
        buffer.feed(b"x")
    parts = buffer._parts
    assert sum(map(sys.getsizeof, parts)) + sys.getsizeof(parts) < 120_000
    assert buffer.feed(b"yy" * 10) == [LineTooLong(100_000)]
    assert buffer._parts == []


@given(
    st.lists(st.sampled_from([b"a", b"bc" * 20, b"\n", b"\r", b" ", b"\r\n", b"x" * 70]), max_size=30),
    st.data(),
)
@example([b"x" * 70, b"\r\n"], None)
def test_the_slices_do_not_matter(pieces: list[bytes], data: st.DataObject | None) -> None:
    """Whole, byte by byte and at any splits, the same lines come out."""
    whole = b"".join(pieces)
    expected = lines_of([whole])
    assert lines_of([whole[index : index + 1] for index in range(len(whole))]) == expected
    assert lines_of(pieces) == expected
    if data is not None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
        assert lines_of([whole[a:b] for a, b in pairwise([0, *cuts, len(whole)])]) == expected
