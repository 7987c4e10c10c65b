"""A session of Bob: where it works, what was said, what it may use, and what the user has allowed for good.

Deliberately absent: what of it the core knows too (protocol/sessions.py), running turns (turn.py), files (keeper.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from acp_agent.agent.history import History

if TYPE_CHECKING:
    from acp_agent.agent.skills import Skills
    from acp_agent.tools.registry import ToolRegistry


@dataclass(slots=True)
class Session:
    """One conversation.

    cwd: absolute, an existing directory. created: in UTC. allowed: names of the tools that need no permission any
    more. input_tokens: what the server counted for the last request to the model, None if it did not or the history
    has changed since. live_ids: tool call ids that the client has seen live, each with the id that the model gave the
    call; replayed_ids: those it has seen in a replay. tools: made with the first turn.
    """

    id: str
    cwd: Path
    history: History
    skills: Skills
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    allowed: set[str] = field(default_factory=set)
    input_tokens: int | None = None
    live_ids: dict[str, str] = field(default_factory=dict)
    replayed_ids: set[str] = field(default_factory=set)
    tools: ToolRegistry | None = None

    def ids_of_other_calls(self) -> set[str]:
        """The live ids that no call may have in a replay: all but those that were the model's own for the call too."""
        newest = {given: live for live, given in self.live_ids.items()}
        return {live for live in self.live_ids if newest.get(live) != live}

    def follow(self, before: Session) -> None:
        """Take the place of a session of this id that was open on this connection: what the client has seen of its
        calls stays seen, and the server's count holds as long as the conversation is the one it was made for."""
        self.live_ids = before.live_ids
        self.replayed_ids = before.replayed_ids
        if self.history.records()[1:] == before.history.records()[1:]:
            self.input_tokens = before.input_tokens


def new_session_id(now: datetime | None = None) -> str:
    """A fresh id that sorts by time: `YYYYMMDD-HHMMSS-xxxxxxxx`, in UTC, with 8 random hex digits."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{os.urandom(4).hex()}"


def home_directory() -> Path:
    """The user's own directory. Under a number that has no name and no $HOME, as in some containers, there is none;
    then a path where nothing is."""
    home = os.path.expanduser("~")  # noqa: PTH111  (Path's raises without a home)
    return Path(home) if home.startswith("/") else Path("/nonexistent")
