"""A model server on loopback that does nothing by itself: a test takes each request and says what is sent back.

No thread: the kernel holds connections that nobody has accepted yet. Each request comes on a connection of its own,
so the end of a request is the end of its connection, and that is what a test can see of an abort.
"""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any

from raw_client import WAIT_S, Message, Silence


class ModelCall:
    """One request, as it arrived. body: the JSON it carried."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._begun = False
        connection.settimeout(WAIT_S)
        head, _, rest = self._until(b"\r\n\r\n").partition(b"\r\n\r\n")
        self.head = head.decode("latin-1")
        length = next(
            int(line.partition(":")[2])
            for line in self.head.split("\r\n")
            if line.lower().startswith("content-length:")
        )
        while len(rest) < length:
            rest += self._connection.recv(1 << 20)
        self.body: dict[str, Any] = json.loads(rest)

    def _until(self, mark: bytes) -> bytes:
        held = b""
        while mark not in held:
            piece = self._connection.recv(65536)
            if not piece:
                raise Silence("the connection closed before a request")
            held += piece
        return held

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    # -- what is sent back

    def raw(self, data: bytes) -> None:
        """Bytes as they are, status line and all."""
        self._begun = True
        self._connection.sendall(data)

    def chunk(self, delta: dict[str, Any], **more: Any) -> None:
        """One event of the stream."""
        if not self._begun:
            self.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        event = {"choices": [{"index": 0, "delta": delta, **more}]}
        self.raw(b"data: " + json.dumps(event).encode() + b"\n\n")

    def text(self, text: str) -> ModelCall:
        self.chunk({"content": text})
        return self

    def think(self, text: str) -> ModelCall:
        self.chunk({"reasoning_content": text})
        return self

    def tool(self, name: str, arguments: object, id_: str = "t1", index: int = 0) -> ModelCall:
        """A whole tool call; arguments that are a str are sent as they are."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": text}}
        self.chunk({"tool_calls": [call]})
        return self

    def finish(self, reason: str = "stop") -> None:
        """The end of the answer."""
        self.chunk({}, finish_reason=reason)
        with contextlib.suppress(OSError):
            self.raw(b"data: [DONE]\n\n")
        self._connection.close()

    def refuse(self, status: str, body: object, *headers: str) -> None:
        """An HTTP error."""
        data = json.dumps(body).encode()
        lines = [
            f"HTTP/1.1 {status}",
            "content-type: application/json",
            f"content-length: {len(data)}",
            "connection: close",
        ]
        self.raw("\r\n".join([*lines, *headers, "", ""]).encode() + data)
        self._connection.close()

    def hang_up(self) -> None:
        """Close the connection, whatever has been sent."""
        self._connection.close()

    def wait_gone(self, within_s: float = WAIT_S) -> None:
        """Wait until the agent has given up this request: its end of the connection is closed."""
        self._connection.settimeout(within_s)
        try:
            while self._connection.recv(65536):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            raise Silence("the model request goes on") from None
        self._connection.close()


class ModelServer:
    """Listens for a lifetime; `url` goes into the configuration as model.baseUrl."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._calls: list[ModelCall] = []

    def next(self, within_s: float = WAIT_S) -> ModelCall:
        """Wait for the next request."""
        self._listening.settimeout(within_s)
        try:
            connection, _ = self._listening.accept()
        except TimeoutError:
            raise Silence("the model was not asked") from None
        call = ModelCall(connection)
        self._calls.append(call)
        return call

    def is_asked(self) -> bool:
        """Whether a request waits now that nobody has taken."""
        self._listening.settimeout(0)
        try:
            connection, _ = self._listening.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True

    def hang_up(self) -> None:
        """Close what is open of the requests so far."""
        while self.is_asked():
            pass
        for call in self._calls:
            call.hang_up()
        self._calls.clear()

    def close(self) -> None:
        self.hang_up()
        self._listening.close()


def assert_valid_history(messages: list[Message]) -> None:
    """What every OpenAI-compatible server asks: the system prompt first, each call with its result, ids that fit."""
    assert [one["role"] for one in messages].count("system") == 1
    assert messages[0]["role"] == "system"
    awaited: list[str] = []
    for message in messages[1:]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in awaited, "a result without its call, or twice"
            awaited.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert awaited == [], "a call without its result"
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [])
            assert calls or message["content"]
            assert "tool_calls" not in message or calls
            awaited = [call["id"] for call in calls]
            assert len(set(awaited)) == len(awaited)
            for call in calls:
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
        else:
            assert message["role"] == "user"
    assert awaited == []
