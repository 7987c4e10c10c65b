"""Both directions of one connection in one order: recorded, observed and numbered, before anything acts on it.

Owns the times, the cutting of the client's bytes into lines, and the one way out. A message is checked before it
is written unless it is wrong on purpose. Deliberately absent: descriptors (a Port has them), and what to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from acp_agent.harness.observer import Observer, Seen
from acp_agent.harness.transcript import Transcript, label_of
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.framing import LineBuffer, LineTooLong
from acp_agent.jsonrpc.messages import read_id
from acp_agent.protocol.methods import Side
from acp_agent.protocol.verdicts import Severity, Verdict
from acp_agent.transport.trace import Direction, TraceWriter

_FIRST_ID: Final = 501
_FORBIDDING: Final = frozenset({Severity.VIOLATION, Severity.INFERRED})


class Port(Protocol):
    """Where the bytes go. post never blocks; flushed waits until the other side's pipe has taken all.

    fetched waits until the client has read all, but not long: it may be busy, or the system may not tell.
    """

    def post(self, data: bytes) -> None: ...

    async def flushed(self) -> None: ...

    async def fetched(self) -> None: ...

    def close_output(self) -> None: ...


class IllegalMove(Exception):
    """A script wanted to send something that is illegal now, and not on purpose; it was not sent.

    Either the script is wrong, or the client has done something that the script did not reckon with.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"the agent's next message would be illegal: {verdict.sentence}")
        self.verdict = verdict


class Heard(NamedTuple):
    """A line of the client with its number in the transcript."""

    number: int
    seen: Seen


class Wire:
    """One connection. clock: seconds that only grow."""

    def __init__(
        self, port: Port, *, trace: TraceWriter | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.observer = Observer()
        self.transcript = Transcript()
        self.client_ended = False
        self.output_closed = False
        self._port = port
        self._trace = trace
        self._clock = clock
        self._start = clock()
        self._lines = LineBuffer()
        self._next_id = _FIRST_ID
        self._waiting: list[bytes] | None = None

    @property
    def now_s(self) -> float:
        """Seconds since the start of the connection."""
        return self._clock() - self._start

    # -- out

    def next_request_id(self) -> int:
        """An id that no request of the agent on this connection has had, unless a script has chosen it."""
        self._next_id += 1
        return self._next_id - 1

    def send(self, message: dict[str, Any], *, on_purpose: bool = False) -> int:
        """Write one message as a line; returns its number. Raises IllegalMove, unless it is illegal on purpose."""
        return self.send_line(codec.encode(message), message, on_purpose=on_purpose)

    def send_line(self, line: bytes, message: Any = None, *, on_purpose: bool = True) -> int:
        """Write a line as it is. message: what it holds, if it is known."""
        if message is None:
            message = _decode(line)
        label = label_of(message, self._method_answered(message))
        self._observe(line, message, on_purpose=on_purpose)
        number = self.transcript.add(self.now_s, "agent", label, line)
        self._post(line)
        return number

    async def send_in_pieces(self, line: bytes, sizes: Iterable[int]) -> int:
        """Write a line in slices of these sizes, the rest at once, each read by the client before the next is written.

        What else is sent meanwhile follows the line.
        """
        message = _decode(line)
        label = label_of(message, self._method_answered(message))
        self._observe(line, message, on_purpose=True)
        number = self.transcript.add(self.now_s, "agent", f"{label} (in pieces)", line)
        self._waiting = []
        try:
            start = 0
            for size in sizes:
                if start >= len(line):
                    break
                self._post_now(line[start : start + size])
                await self._port.fetched()
                start += size
            if start < len(line):
                self._post_now(line[start:])
        finally:
            waiting, self._waiting = self._waiting, None
            for data in waiting:
                self._post_now(data)
        return number

    async def flushed(self) -> None:
        """Wait until all that was sent is in the kernel's hands."""
        await self._port.flushed()

    def close_output(self) -> None:
        """The agent writes nothing any more; it still reads."""
        if not self.output_closed:
            self.output_closed = True
            self.observer.agent_ended()
            self.transcript.add(self.now_s, "harness", "the agent closes its output")
            if self._trace is not None:
                self._trace.record(Direction.AGENT_TO_CLIENT, b"")
            self._port.close_output()

    def remark(self, sentence: str) -> int:
        """Put something that is no message into the transcript."""
        return self.transcript.add(self.now_s, "harness", sentence)

    def _observe(self, line: bytes, message: Any, *, on_purpose: bool) -> None:
        if self.output_closed:
            return
        self.observer.note_agent_message(message)
        for verdict in self.observer.sent(line):
            if verdict.severity in _FORBIDDING and not on_purpose:
                raise IllegalMove(verdict)

    def _post(self, data: bytes) -> None:
        if self._waiting is not None:
            self._waiting.append(data)
        else:
            self._post_now(data)

    def _post_now(self, data: bytes) -> None:
        if self._trace is not None:
            self._trace.record(Direction.AGENT_TO_CLIENT, data)
        if not self.output_closed:
            self._port.post(data)

    def _method_answered(self, message: Any) -> str | None:
        """Which method an answer of ours is to."""
        if not isinstance(message, dict) or "method" in message:
            return None
        usable, id_ = read_id(message.get("id"))
        call = self.observer.connection.conversation.open[Side.CLIENT].get(id_) if usable else None
        return call.method if call is not None else None

    # -- in

    def feed(self, data: bytes) -> Iterator[Heard]:
        """Take bytes of the client, b"" at their end; gives each line once it has been judged, in order.

        Whoever iterates acts on a line before the next one is judged.
        """
        if self._trace is not None:
            self._trace.record(Direction.CLIENT_TO_AGENT, data)
        lines = self._lines.feed(data) if data else self._lines.end()
        for line in lines:
            yield self._hear(line)
        if not data and not self.client_ended:
            self.client_ended = True
            self.observer.client_ended()
            self.transcript.add(self.now_s, "harness", "the client closes its output")

    def _hear(self, line: bytes | LineTooLong) -> Heard:
        number = self.transcript.next_number
        seen = self.observer.received(line, number)
        label = label_of(seen.message, getattr(seen.event, "method", None) if seen.has_answer else None)
        self.transcript.add(self.now_s, "client", label, line if isinstance(line, bytes) else b"")
        return Heard(number, seen)


def _decode(line: bytes) -> Any:
    try:
        return codec.decode(line)
    except codec.DecodeError:
        return None
