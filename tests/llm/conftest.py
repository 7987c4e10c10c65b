"""A model server on loopback that says exactly the bytes a test gives it, and a model that asks it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from acp_agent.llm.client import OpenAIModel, Timeouts
from acp_agent.llm.errors import ModelError
from acp_agent.llm.model import Message, ModelEvent, ReasoningDelta, TextDelta, ToolCallReady, ToolSpec
from acp_agent.llm.retry import RetryPolicy

DEADLINE_S = 20.0
"""No test may wait longer; none waits at all unless something is broken."""

TOOLS = [
    ToolSpec("bash", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}}),
    ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
]

Reply = bytes | Callable[["Exchange"], Awaitable[None]]


@dataclass
class Exchange:
    """One request on one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: str
    body: dict[str, Any]

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_client_is_gone(self) -> None:
        while await self.reader.read(4096):
            pass


@dataclass
class ModelServer:
    """Replies in order; the last one is given to all further requests."""

    replies: list[Reply]
    port: int = 0
    requests: list[Exchange] = field(default_factory=list)
    connections: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    client_gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                headers = head.decode("latin-1")
                length = next(
                    int(line.partition(":")[2])
                    for line in headers.split("\r\n")
                    if line.lower().startswith("content-length")
                )
                exchange = Exchange(reader, writer, headers, json.loads(await reader.readexactly(length)))
                reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
                self.requests.append(exchange)
                self.asked.set()
                if isinstance(reply, bytes):
                    await exchange.say(reply)
                    if b"connection: close" in reply:
                        return
                else:
                    await reply(exchange)
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.client_gone.set()
            writer.close()


class Wire:
    """The bytes of answers."""

    @staticmethod
    def http(body: bytes, status: str = "200 OK", kind: str = "text/event-stream", more: str = "") -> bytes:
        """An answer of known length on a connection that closes."""
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        return f"{head}{more}\r\n".encode() + body

    @staticmethod
    def kept_open(body: bytes) -> bytes:
        """An answer of known length on a connection that stays."""
        return (
            f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )

    @staticmethod
    def endless(body: bytes) -> bytes:
        """The beginning of an answer that goes on until the connection closes."""
        return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + body

    @staticmethod
    def cut(body: bytes) -> bytes:
        """An answer whose connection breaks after body: more bytes were promised."""
        size = len(body) + 1000
        return (
            f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n"
        ).encode() + body

    @staticmethod
    def sse(*chunks: object, done: bool = True) -> bytes:
        """Chunks as events; a string is put in as it is."""
        lines = [one if isinstance(one, str) else f"data: {json.dumps(one)}\n\n" for one in chunks]
        return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()

    @staticmethod
    def text(text: str, **more: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}

    @staticmethod
    def calls(*pieces: dict[str, object], **more: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": {"tool_calls": list(pieces)}, **more}]}

    @staticmethod
    def finish(reason: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


@pytest.fixture
def wire() -> type[Wire]:
    return Wire


@dataclass
class Asked:
    """What came of one question."""

    events: list[ModelEvent]
    server: ModelServer
    waits: list[float]
    notes: list[str]
    error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReasoningDelta))

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(event.name, event.arguments) for event in self.events if isinstance(event, ToolCallReady)]


@asynccontextmanager
async def running(*replies: Reply) -> AsyncIterator[ModelServer]:
    server = ModelServer(list(replies))
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield server
    finally:
        listening.close()
        for exchange in server.requests:
            exchange.writer.close()


@pytest.fixture
def serving() -> Callable[..., Any]:
    """The context manager that runs a ModelServer, for tests that look into the middle of a request."""
    return running


USER: list[Message] = [{"role": "user", "content": "hello"}]


@pytest.fixture
def ask() -> Callable[..., Asked]:
    """Ask once and collect everything; an error is kept, not raised. now is fixed and waits are only written down."""

    def ask(
        *replies: Reply,
        messages: Sequence[Message] = USER,
        tools: Sequence[ToolSpec] = TOOLS,
        idle_s: float = 10.0,
        retries: int = 0,
        times: int = 1,
        **more: Any,
    ) -> Asked:
        async def conversation() -> Asked:
            async with running(*replies) as server:
                asked = Asked([], server, [], [])

                async def sleep(seconds: float) -> None:
                    asked.waits.append(seconds)

                model = OpenAIModel(
                    server.url,
                    "test-model",
                    timeouts=Timeouts(5.0, idle_s),
                    retry=RetryPolicy(retries),
                    on_retry=asked.notes.append,
                    sleep=sleep,
                    now=lambda: 1_000_000_000.0,
                    **more,
                )
                try:
                    for _ in range(times):
                        async with aclosing(model.stream(messages, tools)) as events:
                            async for event in events:
                                asked.events.append(event)
                except ModelError as error:
                    asked.error = error
                finally:
                    await model.aclose()
                return asked

        return asyncio.run(conversation())

    return ask
