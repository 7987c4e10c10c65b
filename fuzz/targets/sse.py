"""Server-sent events are the same however the body is cut, and those that a plain reader of the whole body finds.

Documented: ModelBadAnswer for a line that is too long. Added to the format: an `error:` line is an event of that name,
the end of the body ends the last event, a body that begins as JSON or HTML is one document.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

from hypothesis import strategies as st
from strategies.slices import CUTS, byte_by_byte, cut

from acp_agent.llm.sse import DOCUMENT, ServerEvent, read_events

LINES = st.sampled_from(
    [
        "data: {}",
        "data: 🙂é",
        "data:",
        "data: [DONE]",
        "data",
        ": ping",
        "error: {}",
        "error:x",
        " error: no",
        "event: error",
        "event:",
        "",
        "id: 1",
        "id: a\0b",
        "retry: 5",
        "retry: x",
        "data: : x",
        "xerror: no",
        "data: error: no",
        "data: a\u2028error: b",
        "data: a\u0085b\x0bc\x1cd",
        "\ufeffdata: x",
        "unknown: y",
        "data:  two blanks",
        '{"error": 1}',
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_BODIES = st.builds(
    lambda lines, end: "".join(line + mark for line, mark in lines).encode() + end,
    st.lists(st.tuples(LINES, ENDS), max_size=20),
    st.sampled_from([b"", b"\n\n", b"\xe2\x82", b"data: cut \xf0\x9f", b"\xff"]),
)

cases = st.fixed_dictionaries({"body": _BODIES | st.binary(max_size=200), "cuts": CUTS})


def check(case: Any) -> None:
    """Read it in four ways."""
    body = case["body"]
    whole = events_of([body])
    assert events_of(cut(body, case["cuts"])) == whole
    assert events_of(byte_by_byte(body)) == whole
    assert events_of([b"", *cut(body, case["cuts"]), b""]) == whole
    assert [event for event in whole if event.data] == [event for event in plain(body) if event.data]


def events_of(pieces: Iterable[bytes]) -> list[ServerEvent]:
    """Read a whole body."""

    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def read() -> list[ServerEvent]:
        return [event async for event in read_events(body())]

    return asyncio.run(read())


def plain(body: bytes) -> list[ServerEvent]:
    """The events of a whole body, by the rules of the HTML standard and ours."""
    text = body.decode("utf-8-sig", "replace")
    opening = text.lstrip()
    if opening.startswith(("{", "[", "<")):
        return [ServerEvent(DOCUMENT, opening)]
    found: list[ServerEvent] = []
    name, data = "", []
    for line in [*re.split(r"\r\n|\r|\n", opening), ""]:
        if not line:
            if data:
                found.append(ServerEvent(name or "message", "\n".join(data)))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line.startswith("error:"):
            field, name = "data", "error"
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
    return found
