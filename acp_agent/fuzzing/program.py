"""A conversation as a plan: what the client is, what it does step by step, and how it answers when it is asked.

Plain values that name no ids: a session is the n-th one that is open, whatever the agent called it. So a plan can be
drawn before anything is known of the agent, any part of it can be left out, and it is played again as it is.
Deliberately absent: drawing plans (model.py), playing them (player.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from acp_agent.fuzzing.strategies.changes import Change
from acp_agent.fuzzing.strategies.wire import PLAIN, Spelling


class Level(StrEnum):
    """VALID: only what the protocol allows, so that any fault is the agent's. HOSTILE: anything at all."""

    VALID = "valid"
    HOSTILE = "hostile"


class Boundary(StrEnum):
    """What the client waits for: the next event of its kind, or the answers to all its requests."""

    ANSWERS = "answers"
    UPDATE = "update"
    TOOL_CALL = "tool call"
    ASKED = "asked"


class Reaction(StrEnum):
    """How a request of the agent is answered. From DUPLICATE on it is what no client may do."""

    SERVE = "serve"
    REFUSE = "refuse"
    HOLD = "hold"
    DUPLICATE = "duplicate"
    NONSENSE = "nonsense"
    OTHER_ID = "other id"


LEGAL_REACTIONS: Final = (Reaction.SERVE, Reaction.REFUSE, Reaction.HOLD)


@dataclass(frozen=True, slots=True)
class Open:
    """`session/new`. servers: how many MCP servers over stdio it names."""

    servers: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """`session/prompt` with a text and, where the agent advertises them, blocks of the named kinds.

    session: which one, counted through those that are open; one is opened if there is none. size: the text is made as
    long as this, in bytes. overlap: also while a turn of the session is open. hold: what the agent asks for in this
    session from now on waits for a Release, a cancel or the end.
    """

    session: int = 0
    text: str = "hello"
    kinds: tuple[str, ...] = ()
    size: int = 0
    overlap: bool = False
    hold: bool = False


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for something, as long as a turn may take."""

    boundary: Boundary = Boundary.ANSWERS


@dataclass(frozen=True, slots=True)
class Cancel:
    """`session/cancel`, or `$/cancel_request` for the prompt; with nothing to cancel too."""

    session: int = 0
    by_request: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """Answer a request of the agent that was held back."""

    which: int = 0


@dataclass(frozen=True, slots=True)
class Choose:
    """`session/set_mode` or `session/set_config_option`, with a value that is on offer."""

    session: int = 0
    option: bool = False
    value: int = 0


@dataclass(frozen=True, slots=True)
class Life:
    """`session/close`, `/delete`, `/resume` or `/load` of a session, where the agent advertises it.

    The last two open it again if it was closed, and are left out while it is open.
    """

    method: str
    session: int = 0


@dataclass(frozen=True, slots=True)
class ListSessions:
    """`session/list`, of this directory or of all, with a cursor that was given or, hostile, a made-up one."""

    here: bool = False
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Extension:
    """A request or a notification of a method of our own."""

    request: bool = True


@dataclass(frozen=True, slots=True)
class Stall:
    """Read nothing for so many milliseconds."""

    ms: int = 50


@dataclass(frozen=True, slots=True)
class EndInput:
    """Close the agent's input, whatever is going on."""


@dataclass(frozen=True, slots=True)
class Line:
    """Hostile: these bytes as a line."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """Hostile: any method with any params. session: put the id of an open session into them, if there is one.

    notify: without an id. id_: the id to use, "fresh" for the next one.
    """

    method: str
    params: Any = None
    session: bool = True
    notify: bool = False
    id_: Any = "fresh"


@dataclass(frozen=True, slots=True)
class Stray:
    """Hostile: an answer to nothing. id_: to which request."""

    id_: Any = 0
    error: bool = False


Action = (
    Open
    | Prompt
    | Await
    | Cancel
    | Release
    | Choose
    | Life
    | ListSessions
    | Extension
    | Stall
    | EndInput
    | Line
    | Call
    | Stray
)


@dataclass(frozen=True, slots=True)
class Step:
    """An action and how its message is written. changes: hostile: what is done to the message first."""

    action: Action
    spelling: Spelling = PLAIN
    changes: tuple[Change, ...] = ()


FULL_CAPABILITIES: Final[dict[str, Any]] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}},
}
"""What an ordinary editor advertises."""


@dataclass(frozen=True, slots=True)
class Program:
    """A whole plan.

    steps: in order. reactions: for the agent's requests in the order they come, then SERVE. capabilities: what the
    client advertises; None for FULL_CAPABILITIES. version: the one it asks for. early: hostile: before `initialize`.
    probe: at the end open another session and prompt in it. probe_text: what is said there.
    """

    steps: tuple[Step, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    capabilities: dict[str, Any] | None = None
    version: int = 1
    early: tuple[Step, ...] = ()
    probe: bool = False
    probe_text: str = "hello"

    @property
    def usual_handshake(self) -> bool:
        """Whether it can be played on a connection that others have begun the usual way."""
        return self.capabilities is None and self.version == 1 and not self.early
