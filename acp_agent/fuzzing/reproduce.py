"""Playing a recorded exchange again: the client's bytes as they were, at the same places of the conversation.

What another run names differently is translated: session ids, the ids of the agent's requests, and the directory that
the sessions worked in. Everything else goes out byte for byte, in the same writes. Needs no Hypothesis.

    from acp_agent.fuzzing.reproduce import reproduce
    assert reproduce(Path("R-135-update-late.jsonl"), ["my-agent", "--acp"]) == []

Deliberately absent: stalls of the client, which a record of bytes does not show.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from acp_agent.fuzzing.exchange import Deadlines, Exchange
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.peer import Peer
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.framing import LineBuffer
from acp_agent.protocol.events import Event, RequestReceived
from acp_agent.transport.trace import Direction, Record, TraceReader

_WAIT_S: Final = 3.0
"""How long an agent may take to come as far as it came in the record; it may say less than then."""
_LONG_S: Final = 0.5
"""A record that waited so long for its end waited for answers."""


def reproduce(trace: Path, command: Sequence[str], deadlines: Deadlines | None = None) -> list[Finding]:
    """Play a trace against an agent; returns what it does wrong, [] if nothing.

    Raises TraceError and OSError for the file, CannotStartAgent for the command.
    """
    with TraceReader(trace) as reader:
        records = list(reader)
    with tempfile.TemporaryDirectory(prefix="acp-fuzz-") as directory:
        root = Path(directory)
        (root / "note.txt").write_text("a note\n", encoding="utf-8")
        exchange = Exchange(Peer(command, Path.cwd()), deadlines or Deadlines())
        try:
            _Replay(exchange, records, root).run()
        finally:
            exchange.peer.close()
        return list(exchange.judge.findings)


class _Replay:
    """One replay. Lines of both runs are counted alike: the n-th answer, the n-th request of a method."""

    def __init__(self, exchange: Exchange, records: list[Record], root: Path) -> None:
        self._exchange = exchange
        self._records = records
        self._new_names: dict[bytes, bytes] = {}
        self._then: list[Any] = []
        self._asked_then: dict[str, list[Any]] = {}
        self._asked_now: dict[str, list[Any]] = {}
        self._then_lines = LineBuffer()
        exchange.on_event = self._on_event
        old_root = _directory(records)
        if old_root is not None:
            self._new_names[old_root.encode()] = str(root).encode()

    def run(self) -> None:
        """From the first byte to the end of the process."""
        last_written = 0.0
        for record in self._records:
            if record.direction is Direction.AGENT_TO_CLIENT:
                self._then += [_decode(line) for line in self._then_lines.feed(record.data)]
                self._note_requests()
                continue
            if not self._exchange.alive:
                break
            self._catch_up()
            if record.data:
                self._exchange.send([self._translated(record.data)])
                self._exchange.pump(0)
                last_written = record.t
                continue
            if record.t - last_written >= _LONG_S or not self._exchange.open_calls():
                self._exchange.wait_for_answers()
                self._exchange.settle()
            self._exchange.end_input()
        if not self._exchange.input_ended:
            self._exchange.wait_for_answers()
            self._exchange.settle()
        self._exchange.end()

    def _catch_up(self) -> None:
        """Wait until the agent has said as much as it had in the record."""
        self._exchange.wait(lambda: self._lines_now() >= len(self._then), _WAIT_S)
        self._note_sessions()

    def _lines_now(self) -> int:
        slices = self._exchange.slices
        return sum(one.data.count(b"\n") for one in slices if one.direction is Direction.AGENT_TO_CLIENT)

    def _note_sessions(self) -> None:
        """What a session was called then and is called now, by the id of the answer that named it."""
        then = dict(_named(self._then))
        now = dict(_named(self._said_now()))
        for id_, old in then.items():
            if id_ in now and now[id_] != old:
                self._new_names[_token(old)] = _token(now[id_])

    def _said_now(self) -> list[Any]:
        lines = LineBuffer()
        slices = self._exchange.slices
        data = b"".join(one.data for one in slices if one.direction is Direction.AGENT_TO_CLIENT)
        return [_decode(line) for line in lines.feed(data)]

    def _note_requests(self) -> None:
        self._asked_then = {}
        for message in self._then:
            if isinstance(message, dict) and isinstance(message.get("method"), str) and "id" in message:
                self._asked_then.setdefault(message["method"], []).append(message["id"])

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._asked_now.setdefault(event.method, []).append(event.id)

    def _translated(self, data: bytes) -> bytes:
        for old, new in self._new_names.items():
            data = data.replace(old, new)
        message = _decode(data)
        if (
            not isinstance(message, dict)
            or "method" in message
            or not isinstance(message.get("id"), int | str)
        ):
            return data
        for method, then in self._asked_then.items():
            now = self._asked_now.get(method, [])
            if message["id"] in then and (place := then.index(message["id"])) < len(now):
                if now[place] != message["id"]:
                    return json.dumps({**message, "id": now[place]}).encode() + b"\n"
                break
        return data


def _named(messages: list[Any]) -> Iterator[tuple[Any, str]]:
    """The id of each answer that names a session, and the session."""
    for message in messages:
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict) and isinstance(result.get("sessionId"), str):
            yield json.dumps(message.get("id")), result["sessionId"]


def _directory(records: list[Record]) -> str | None:
    """Where the first session worked."""
    lines = LineBuffer()
    for record in records:
        if record.direction is Direction.CLIENT_TO_AGENT:
            for line in lines.feed(record.data):
                message = _decode(line)
                params = message.get("params") if isinstance(message, dict) else None
                cwd = params.get("cwd") if isinstance(params, dict) else None
                if isinstance(cwd, str) and cwd.startswith("/") and len(cwd) > 1:
                    return cwd
    return None


def _token(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")


def _decode(line: Any) -> Any:
    try:
        return codec.decode(line) if isinstance(line, bytes) else None
    except codec.DecodeError:
        return None
