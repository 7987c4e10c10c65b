"""Server-sent events out of bytes, however they are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.llm import sse
from acp_agent.llm.errors import ModelBadAnswer
from acp_agent.llm.sse import DOCUMENT, ServerEvent, read_events


def events_of(pieces: Iterable[bytes]) -> list[ServerEvent]:
    """Read a whole body."""

    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def read() -> list[ServerEvent]:
        return [event async for event in read_events(body())]

    return asyncio.run(read())


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Cut data at these places."""
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(bounds)]


LINES = st.sampled_from(
    [
        "data: {}",
        "data: 🙂é",
        "data:",
        "data: [DONE]",
        ": ping",
        "error: {}",
        "error:x",
        " error: no",
        "event: error",
        "",
        "id: 1",
        "retry: 5",
        "data: : x",
        "xerror: no",
        "data: error: no",
        "data: a\u2028error: b",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(LINES, ENDS)), st.booleans(), st.lists(st.integers(0, 10_000), max_size=20))
def test_any_cut_of_the_bytes_gives_the_same_events(
    lines: list[tuple[str, str]], finished: bool, places: list[int]
) -> None:
    """B214: inside a character, inside CRLF, with or without the last blank line."""
    data = "".join(line + end for line, end in lines).encode() + (b"\n\n" if finished else b"")
    whole = events_of([data])
    assert events_of(cut(data, places)) == whole
    assert events_of([data[at : at + 1] for at in range(len(data))]) == whole


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_any_bytes_at_all_are_read(data: bytes, places: list[int]) -> None:
    """Never an exception, and the same for every cut."""
    assert events_of(cut(data, places)) == events_of([data])


def test_an_error_line_is_an_error_event() -> None:
    """B211: only at the start of a line."""
    assert events_of([b'error: {"a":1}\n\ndata: error: x\n\n']) == [
        ServerEvent("error", '{"a":1}'),
        ServerEvent("message", "error: x"),
    ]


def test_the_last_event_needs_no_blank_line() -> None:
    """Nor a line end."""
    assert events_of([b"data: a\n\ndata: b"]) == [ServerEvent("message", "a"), ServerEvent("message", "b")]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    """Source: the event stream grammar of the HTML standard."""
    assert events_of([b"\xef\xbb", b"\xbfdata: a\n\n"]) == [ServerEvent("message", "a")]


@pytest.mark.parametrize("text", ['{"a":\n\n1}', "[1]", "<html>\n\n</html>"])
def test_a_document_is_one_event(text: str) -> None:
    """Told by its first character, after white space."""
    data = text.encode()
    for pieces in ([b" \r\n ", data], [data[at : at + 1] for at in range(len(data))]):
        assert events_of(pieces) == [ServerEvent(DOCUMENT, text)]


@pytest.mark.parametrize("opening", [b"data: ", b"{"])
def test_a_piece_without_end_is_refused_not_kept(opening: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded."""
    monkeypatch.setattr(sse, "MAX_EVENT_CHARS", 10_000)
    with pytest.raises(ModelBadAnswer, match="in one piece"):
        events_of([opening, *[b"x" * 1000] * 20])
    assert len(events_of([b"data: x\n\n" * 20_000])) == 20_000
