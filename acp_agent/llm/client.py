"""A model behind an OpenAI-compatible `/chat/completions`.

Owns the request: timeouts, asking again, the way from body to events. Absent: proxies and certificates (route.py), the
meaning of chunks (answer.py), the words of errors (refusals.py), what is sent (payload.py).

Decisions:
- A request is repeated only while nothing of its answer has been given out.
- After a finish reason the rest of the stream (usage, [DONE]) is waited for briefly, then the answer ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from acp_agent.llm.answer import AnswerReader, End
from acp_agent.llm.errors import ModelAuthError, ModelBadAnswer, ModelError, ModelUnreachable
from acp_agent.llm.model import Message, ModelEvent, ToolSpec
from acp_agent.llm.payload import Sampling, refused_member, request_body
from acp_agent.llm.refusals import (
    ServerAddress,
    one_line,
    refusal_in_stream,
    refusal_of_status,
    said_in,
    transport_failure,
)
from acp_agent.llm.retry import RetryPolicy, retry_after_s
from acp_agent.llm.route import http_client
from acp_agent.llm.sse import DOCUMENT, ServerEvent, read_events

if TYPE_CHECKING:
    import httpx

_PATH = "/chat/completions"
_MAX_ERROR_BYTES = 64 * 1024
_REST_S = 0.5
"""Wait for usage and [DONE] after a finish reason; an answer must not seem to hang once it is whole."""
_DRAIN_S = 0.1
"""Wait for the end of the body after [DONE], so that the connection can serve the next request."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. idle_s: the longest silence, also before the first byte; a local model may read a long prompt first.

    Keep-alive comments are no silence: a server that queues a request may say so for as long as the person waits."""

    connect_s: float
    idle_s: float


class _MemberRefused(Exception):
    """A detour, not a failure: the request goes out again without this member."""

    def __init__(self, member: str) -> None:
        super().__init__(member)
        self.member = member


class OpenAIModel:
    """Asks one model of one server; belongs to the event loop of its first request."""

    def __init__(
        self,
        base_url: str,
        name: str,
        *,
        api_key: str | None = None,
        api_key_variable: str | None = None,
        timeouts: Timeouts,
        retry: RetryPolicy,
        sampling: Sampling = Sampling(),  # noqa: B008 - frozen
        on_retry: Callable[[str], None] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Connect to nothing yet.

        base_url: with or without `/chat/completions`, e.g. "http://localhost:11434/v1". api_key: never shown;
        api_key_variable: its environment variable, named in errors. on_retry is called with one sentence before each
        wait. Raises ModelUnreachable if base_url is no http(s) address."""
        self._url, shown = _endpoint(base_url)
        key = (api_key or "").strip()
        self._address = ServerAddress(shown, name, api_key_variable, key or None)
        self._name = name
        self._sampling = sampling
        self._timeouts = timeouts
        self._retry = retry
        self._on_retry = on_retry
        self._sleep = sleep
        self._now = now
        self._refused: set[str] = set()
        self._client: httpx.AsyncClient | None = None

    @property
    def label(self) -> str:
        """Name and address, e.g. "qwen3 at http://localhost:11434/v1"."""
        return f"{self._name} at {self._address.url}"

    def __repr__(self) -> str:
        return f"<OpenAIModel {self.label}>"

    async def aclose(self) -> None:
        """Close the connections; safe to call more than once."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer the conversation; see Model.stream. Raises the ModelError that fits, after the retries allowed."""
        attempt = 0
        waited_s = 0.0
        while True:
            given_out = False
            body = request_body(self._name, messages, tools, self._sampling, self._refused)
            reader = AnswerReader(self._address, [tool.name for tool in tools], _ids_in(messages))
            try:
                async with aclosing(self._ask(body, reader)) as events:
                    async for event in events:
                        given_out = True
                        yield event
                return
            except _MemberRefused as refusal:
                self._refused.add(refusal.member)
                continue
            except ModelError as error:
                # Who wants no request twice, does not want it while a model is loading either.
                patient = self._retry.retries > 0 and waited_s < error.patience_s
                if given_out or not error.retryable or not (patient or attempt < self._retry.retries):
                    raise
                wait_s = self._retry.wait_s(attempt, error.wait_s)
                if attempt >= self._retry.retries:
                    wait_s = max(
                        wait_s, self._retry.wait_s(attempt, None)
                    )  # a server's 0 would go on for ever
                if self._on_retry is not None:
                    self._on_retry(f"{error}; asking again in {wait_s:g} s")
            await self._sleep(wait_s)
            waited_s += wait_s
            attempt += 1

    async def _ask(self, body: bytes, reader: AnswerReader) -> AsyncGenerator[ModelEvent, None]:
        """Send one request and give the events of its answer."""
        client = self._connected()
        try:
            async with client.stream("POST", self._url, content=body, headers=self._headers()) as response:
                if not response.is_success:
                    await self._raise_for(response, body)
                async with aclosing(read_events(response.aiter_bytes())) as server_events:
                    async for event in self._events(server_events, reader):
                        yield event
        except _transport_errors() as error:
            raise transport_failure(
                error, self._address, (self._timeouts.connect_s, self._timeouts.idle_s)
            ) from error

    async def _events(
        self, server_events: AsyncIterator[ServerEvent], reader: AnswerReader
    ) -> AsyncGenerator[ModelEvent, None]:
        given_out = False
        end = End.CLOSED
        try:
            async for server_event in server_events:
                for chunk in self._chunks(server_event):
                    if chunk is _DONE:
                        end = End.DONE
                        break
                    for event in reader.feed(chunk):
                        given_out = True
                        yield event
                if end is End.DONE or reader.complete:
                    break
        except _transport_errors() as error:
            # Before anything was given out, and for a timeout, the failure has its own sentence further out.
            if not given_out or not _is_broken_connection(error):
                raise
            end = End.BROKEN
        if end is not End.BROKEN and (reader.complete or end is End.DONE):
            for event in await self._rest(server_events, reader, done=end is End.DONE):
                yield event
        for event in reader.close(end):
            yield event

    async def _rest(
        self, server_events: AsyncIterator[ServerEvent], reader: AnswerReader, *, done: bool
    ) -> list[ModelEvent]:
        """Read to the end of the body, for a moment: the answer is whole, whatever happens to the connection now."""
        found: list[ModelEvent] = []
        try:
            async with asyncio.timeout(_DRAIN_S if done else _REST_S) as limit:
                async for server_event in server_events:
                    for chunk in [] if done else self._chunks(server_event):
                        if chunk is _DONE:
                            done = True
                            limit.reschedule(asyncio.get_running_loop().time() + _DRAIN_S)
                            break
                        found.extend(reader.feed(chunk))
        except ModelError:
            pass
        except _transport_errors():  # TimeoutError is one of them
            pass
        return found

    def _chunks(self, event: ServerEvent) -> list[object]:
        """Return the decoded chunks of one server event, _DONE for the closing word."""
        if event.name == DOCUMENT:
            lines = [event.data]
        else:
            # A line that begins with ":" is a comment which a proxy has wrapped into data.
            lines = [line for line in event.data.split("\n") if line.strip() and not line.startswith(":")]
        if not lines:
            return []
        try:
            try:
                chunks = [_chunk("\n".join(lines))]
            except ValueError:
                # Events without the blank line between them arrive as the lines of one.
                chunks = [_chunk(line) for line in lines]
        except ValueError:
            return self._unreadable(event)
        if (
            event.name == DOCUMENT
            and isinstance(chunks[0], dict)
            and not {"choices", "error"} & chunks[0].keys()
        ):
            raise ModelBadAnswer(
                f"{self._address.url} answered with something else than a chat completion: "
                f"{said_in(event.data, self._address)}; check model.baseUrl"
            )
        if event.name == "error" and not (isinstance(chunks[0], dict) and "error" in chunks[0]):
            raise refusal_in_stream({"error": chunks[0]}, self._address)
        return chunks

    def _unreadable(self, event: ServerEvent) -> list[object]:
        said = one_line(event.data, self._address)
        if event.name == "error":
            raise refusal_in_stream({"error": said}, self._address)
        if event.name == DOCUMENT and event.data.startswith("<"):
            raise ModelBadAnswer(
                f"{self._address.url} answered with a web page, not as a model server; check model.baseUrl"
            )
        if event.name == DOCUMENT or event.data.lstrip().startswith(("{", "[")):
            raise ModelBadAnswer(f"the model server at {self._address.url} sent malformed JSON: {said[:120]}")
        return []  # noise between the chunks, as some proxies put it there

    async def _raise_for(self, response: httpx.Response, body: bytes) -> None:
        said = await _beginning_of(response)
        if response.status_code in (400, 422):
            member = refused_member(said, body)
            if member is not None:
                raise _MemberRefused(member)
        raise refusal_of_status(
            response.status_code,
            said,
            self._address,
            retry_after_s(response.headers.get("retry-after"), self._now()),
            response.headers.get("location", ""),
        )

    def _headers(self) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            # Compression makes proxies hold back small pieces.
            "accept-encoding": "identity",
            "user-agent": "bob-acp",
        }
        key = self._address.secret
        if key is not None:
            if not (key.isascii() and key.isprintable()):
                # Checked here because the library's own error shows the header.
                where = f" in ${self._address.key_variable}" if self._address.key_variable else ""
                raise ModelAuthError(f"the API key{where} holds characters no key can have; set it again")
            headers["authorization"] = f"Bearer {key}"
        return headers

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx  # as in route.py

            timeout = httpx.Timeout(
                self._timeouts.idle_s, connect=self._timeouts.connect_s, pool=self._timeouts.connect_s
            )
            try:
                self._client = http_client(self._url, timeout)
            except ValueError as error:
                raise ModelUnreachable(
                    "the proxy or certificate settings of the environment cannot be used: "
                    f"{one_line(str(error), self._address)}"
                ) from error
        return self._client


_DONE = object()


def _chunk(text: str) -> object:
    """Decode one chunk; raise ValueError. The slow reader is for what the strict one refuses: half characters, NaN."""
    import json

    import orjson

    if text.strip() == "[DONE]":
        return _DONE
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def _transport_errors() -> tuple[type[Exception], ...]:
    """Return what a failing connection raises; a function, so that httpx is imported by then and not before."""
    import httpx

    return (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError)


def _is_broken_connection(error: Exception) -> bool:
    import httpx

    return not isinstance(error, httpx.TimeoutException | httpx.DecodingError)


async def _beginning_of(response: httpx.Response) -> str:
    """Read the first _MAX_ERROR_BYTES of an error body; what arrived counts, even if the connection then breaks."""
    held = bytearray()
    try:
        async for piece in response.aiter_bytes():
            held += piece
            if len(held) >= _MAX_ERROR_BYTES:
                break
    except _transport_errors():
        pass
    return held[:_MAX_ERROR_BYTES].decode("utf-8", "replace")


def _ids_in(messages: Sequence[Message]) -> list[str]:
    found = []
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                found.append(call["id"])
    return found


def _endpoint(base_url: str) -> tuple[str, str]:
    """Return the address requests go to, and the base address as it may be shown: without credentials and query."""
    text = base_url.strip()
    try:
        parts = urlsplit(text)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        parts = urlsplit("")
        port = ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = text.rpartition("@")[2]
        raise ModelUnreachable(
            f'model.baseUrl should be an address such as "http://localhost:11434/v1", not "{shown}"'
        )
    path = parts.path.rstrip("/").removesuffix(_PATH)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return (
        urlunsplit((parts.scheme, parts.netloc, path + _PATH, parts.query, "")),
        f"{parts.scheme}://{host}{port}{path}",
    )
