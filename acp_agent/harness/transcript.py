"""What was said on a connection, as a person reads it: numbered entries, cut short, bounded in number.

The raw trace (transport/trace.py) has every byte; this is what evidence points to. Of very many entries the first
and the last are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_SHOWN_BYTES: Final = 2000
_FIRST: Final = 500
_LAST: Final = 2500


class Entry(NamedTuple):
    """One message, or something that happened. sender: "client", "agent", or "harness" for a remark on the scene.

    t: seconds since the start. label: what it is in a few words. text: the line, cut at 2,000 bytes; size: its bytes.
    """

    number: int
    t: float
    sender: str
    label: str
    text: str = ""
    size: int = 0

    def to_object(self) -> dict[str, Any]:
        """As it stands in report.json."""
        return self._asdict()


class Transcript:
    """The entries of one connection; their numbers count on from first_number, whatever was dropped."""

    def __init__(self, first_number: int = 0) -> None:
        self._first: list[Entry] = []
        self._last: deque[Entry] = deque(maxlen=_LAST)
        self._count = first_number

    def add(self, t: float, sender: str, label: str, data: bytes = b"") -> int:
        """Append an entry; returns its number."""
        text = data[:_SHOWN_BYTES].decode("utf-8", "replace").rstrip("\r\n")
        entry = Entry(self._count, round(t, 4), sender, label, text, len(data))
        self._count += 1
        (self._first if len(self._first) < _FIRST else self._last).append(entry)
        return entry.number

    @property
    def next_number(self) -> int:
        """The number that the next entry will have."""
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        yield from self._first
        yield from self._last


def label_of(message: Any, method_of_response: str | None = None) -> str:
    """A decoded message in a few words: `session/update agent_message_chunk`, `result of session/new`."""
    if not isinstance(message, dict):
        return "no message"
    method = message.get("method")
    if isinstance(method, str):
        params = message.get("params")
        update = params.get("update") if isinstance(params, dict) else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        return f"{method} {kind}" if isinstance(kind, str) else method
    of = f" of {method_of_response}" if method_of_response else ""
    error = message.get("error")
    if "error" in message:
        code = error.get("code") if isinstance(error, dict) else "?"
        return f"error {code}{of}"
    return f"result{of}"
