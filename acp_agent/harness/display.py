"""What the client's user saw, as the client has put it down in the file that ACP_HARNESS_DISPLAY names.

JSON lines, each an object with `t` (seconds), `kind`, `session`, `turn` (from 1) and what the kind carries; see
docs/harness.md. Read leniently: a line that is no such object is counted and left out.
Deliberately absent: judging it (scenarios do, in their aftermath).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

_MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Display:
    """The records in the order they were written. unreadable: how many lines were none."""

    records: tuple[dict[str, Any], ...]
    unreadable: int = 0

    def of(self, kind: str, turn: int | None = None, *, replay: bool = False) -> list[dict[str, Any]]:
        """The records of a kind, of one turn if it is given. replay: those of a replayed history instead."""
        return [
            record
            for record in self.records
            if record.get("kind") == kind
            and (turn is None or record.get("turn") == turn)
            and (record.get("replay") is True) is replay
        ]

    def text(self, kind: str = "message", turn: int | None = None, *, replay: bool = False) -> str:
        """All text of a kind, joined."""
        texts = [record.get("text") for record in self.of(kind, turn, replay=replay)]
        return "".join(text for text in texts if isinstance(text, str))

    def turn_text(self, turn: int) -> str:
        """The message of a turn as a whole: what its end says, or else what was shown piece by piece."""
        for record in self.of("end", turn):
            if isinstance(record.get("text"), str):
                return str(record["text"])
        return self.text("message", turn)

    def stop_reason(self, turn: int) -> str | None:
        """How a turn's end was shown."""
        reasons = [record.get("stopReason") for record in self.of("end", turn)]
        return next((reason for reason in reasons if isinstance(reason, str)), None)


def read_display(path: Path) -> Display | None:
    """The record, or None if the client has not written one."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES)
    except OSError:
        return None
    records, unreadable = [], 0
    for line in content.splitlines():
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            record = None
        if isinstance(record, dict) and isinstance(record.get("kind"), str):
            records.append(record)
        else:
            unreadable += 1
    return Display(tuple(records), unreadable) if records else None
