"""Server-sent events out of a response body, however it is cut into reads.

The format is httpx-sse's work. Added here is only what servers of the field do beyond it: the `error:` line of older
llama.cpp, a last event without its blank line, a plain JSON document instead of a stream, a size limit. Absent: what
the data means (answer.py).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from acp_agent.llm.errors import ModelBadAnswer

if TYPE_CHECKING:
    import httpx

MAX_EVENT_CHARS = 16 * 1024 * 1024
"""Longest line of a stream, and longest document, that is kept in memory."""

DOCUMENT = "\ndocument"
"""Event name given to a body that is no event stream but one JSON (or HTML) document; no server can send this name."""

# At the start of a line only; each block handed to the decoder starts at one.
_ERROR_LINE = re.compile(r"(?<![^\r\n])error:")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name ("message" if the server gave none) and its data, lines joined by "\\n"."""

    name: str
    data: str


async def read_events(body: AsyncIterator[bytes]) -> AsyncGenerator[ServerEvent, None]:
    """Give the events of a body, or a single DOCUMENT event when its first character says it is JSON or HTML.

    The content type is not asked: servers send streams as text/plain and documents as text/event-stream.
    Bytes that are not UTF-8 become U+FFFD. Raises ModelBadAnswer when a line exceeds MAX_EVENT_CHARS, and whatever
    reading the body raises."""
    import httpx_sse  # with httpx behind it, 70 ms that only a request has to pay

    pieces = _decoded(body)
    async with aclosing(pieces):
        opening = ""
        async for piece in pieces:
            opening = piece.lstrip()
            if opening:
                break
        if opening.startswith(("{", "[", "<")):
            yield ServerEvent(DOCUMENT, await _all_of(opening, pieces))
            return
        stream = cast("httpx.Response", _EventText(opening, pieces))
        async with aclosing(httpx_sse.EventSource(stream).aiter_sse()) as events:
            async for event in events:
                yield ServerEvent(event.event, event.data)


async def _decoded(body: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    # Event streams are UTF-8 whatever the header says; a byte order mark may lead.
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    async for data in body:
        text = decoder.decode(data)
        if text:
            yield text
    text = decoder.decode(b"", final=True)
    if text:
        yield text


async def _all_of(opening: str, pieces: AsyncIterator[str]) -> str:
    held = [opening]
    size = len(opening)
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        _check_size(size)
    return "".join(held)


class _EventText:
    """The two members of a response that httpx-sse asks for: a content type, and text that ends at a line's end."""

    def __init__(self, opening: str, pieces: AsyncIterator[str]) -> None:
        self.headers = {"content-type": "text/event-stream"}
        self._opening = opening
        self._pieces = pieces

    async def aiter_text(self) -> AsyncGenerator[str, None]:
        """Give whole lines; an `error:` line becomes an event of that name, and the end of the body ends an event."""
        held: list[str] = []
        size = 0
        async for piece in self._all_pieces():
            cut = max(piece.rfind("\n"), piece.rfind("\r")) + 1
            if not cut:
                held.append(piece)
                size += len(piece)
                _check_size(size)
                continue
            held.append(piece[:cut])
            yield _ERROR_LINE.sub("event: error\ndata:", "".join(held))
            held = [piece[cut:]]
            size = len(held[0])
        yield _ERROR_LINE.sub("event: error\ndata:", "".join(held)) + "\n\n"

    async def _all_pieces(self) -> AsyncGenerator[str, None]:
        yield self._opening
        async for piece in self._pieces:
            yield piece


def _check_size(size: int) -> None:
    if size > MAX_EVENT_CHARS:
        raise ModelBadAnswer(
            f"the model server sent more than {MAX_EVENT_CHARS // (1024 * 1024)} MiB in one piece; that is no answer"
        )
