"""A session of Bob: where it works, what was said, and what the user has allowed for good.

Deliberately absent: what of it the core knows too (protocol/sessions.py) and running turns (turn.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from acp_agent.agent.history import History


@dataclass(slots=True)
class Session:
    """cwd: absolute, an existing directory. allowed: names of the tools that need no permission any more."""

    id: str
    cwd: Path
    history: History
    allowed: set[str] = field(default_factory=set)


def new_session_id(now: datetime | None = None) -> str:
    """A fresh id that sorts by time: `YYYYMMDD-HHMMSS-xxxxxxxx`, in UTC, with 8 random hex digits."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{os.urandom(4).hex()}"
