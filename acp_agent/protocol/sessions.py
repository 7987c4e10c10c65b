"""The records a conversation keeps: sessions, their turns, tool calls and permission requests.

Plain tables, keyed as ACP keys them. Owns what is derived from them: the facts the machines ask for.
Deliberately absent: what a message does to them (turns.py, conversation.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.machines.step import TURN
from acp_agent.protocol.machines.tool_call import ToolCallFacts, ToolCallState
from acp_agent.protocol.machines.turn import TurnFacts, TurnState

# Requests that name the session they are about to open, and so are not checked against the open ones.
OPENING_REQUESTS: Final = frozenset({"session/load", "session/resume"})
SETUP_REQUESTS: Final = OPENING_REQUESTS | {"session/new"}
# Requests whose params name an open session. A `sessionId` elsewhere is an unknown member and may be anything.
REQUESTS_IN_SESSION: Final = frozenset(
    {
        "session/close",
        "session/set_mode",
        "session/set_config_option",
        "session/prompt",
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
    }
)


class SessionStatus(StrEnum):
    """OPENING: a load or resume has no answer yet. CLOSED is like unknown until loaded or resumed again."""

    OPENING = "opening"
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class Cancel(StrEnum):
    """The three ways a turn can be asked to stop."""

    SESSION_CANCEL = "session_cancel"
    REQUEST = "request"
    CLOSE = "close"


@dataclass(slots=True, eq=False)
class ToolCall:
    """A tool call. Its id is unique in the session, for ever.

    announced: it had its `tool_call`; a permission request may name a call before that.
    permission_open: how many permission requests for it are unanswered. denied: an answer did not grant it.
    left_open: its turn has ended without a last status for it; no later turn can continue it.
    """

    id: str
    state: ToolCallState
    announced: bool = False
    permission_open: int = 0
    denied: bool = False
    left_open: bool = False

    def facts(self) -> ToolCallFacts:
        """What the tool call machine asks about."""
        return ToolCallFacts(permission_open=self.permission_open > 0, permission_denied=self.denied)


@dataclass(slots=True, eq=False)
class Turn:
    """A prompt and all that answers it, owned by the request's id.

    open_calls: the calls of this turn that are pending or in progress. cancel: how it was asked to stop.
    waiting: it is ours and stands behind another turn of its session; nothing may be said of it before it begins.
    """

    request_id: RequestId
    session: Session
    state: TurnState = TURN.initial
    cancel: set[Cancel] = field(default_factory=set)
    waiting: bool = False
    permissions_open: int = 0
    open_calls: dict[str, ToolCall] = field(default_factory=dict)

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session.id

    @property
    def whole_turn_cancelled(self) -> bool:
        """Whether a cancel was asked that must be answered with stop reason `cancelled`."""
        return Cancel.SESSION_CANCEL in self.cancel or Cancel.CLOSE in self.cancel

    def facts(self, *, with_open_calls: bool = True, with_cancel_of_request: bool = True) -> TurnFacts:
        """What the turn machine asks about: every open call and every way to cancel, unless one does not matter."""
        # Asked with every message but chunks: counted by hand, and not at all where there is nothing to count.
        if not (self.open_calls or self.permissions_open or self.cancel):
            return _NOTHING_OPEN
        running = 0
        for call in self.open_calls.values():
            if call.state is ToolCallState.IN_PROGRESS:
                running += 1
        calls_open = len(self.open_calls) if with_open_calls else 0
        if not self.cancel:
            return TurnFacts(self.permissions_open, running, calls_open)
        return TurnFacts(
            self.permissions_open, running, calls_open, with_cancel_of_request, self.whole_turn_cancelled
        )


_NOTHING_OPEN: Final = TurnFacts()


@dataclass(slots=True, eq=False)
class Permission:
    """An unanswered `session/request_permission`. options: the kind of each offered option id.

    withdrawn: the agent has cancelled the request; whatever comes now settles it quietly.
    """

    turn: Turn | None
    call: ToolCall
    options: dict[str, str]
    withdrawn: bool = False


@dataclass(slots=True, eq=False)
class Session:
    """A session of this connection.

    opening: how it was opened; while it is OPENING, only a load replays history.
    modes: the ids on offer, None when the setup result had no modes. options: the config options on offer by id,
    each with its values, None for a boolean one; None when the setup result had none.
    turns: the prompts without an answer, oldest first; updates belong to the first one.
    last_ending: the final state of the turn that ended last.
    calls: every tool call ever announced. terminals: id to whether it is live (not released).
    compactions: id to status. replaced: what stood here when a load began, to be put back should it fail.
    """

    id: str
    status: SessionStatus
    cwd: str = ""
    opening: str = "session/new"
    modes: frozenset[str] | None = None
    options: dict[str, frozenset[str] | None] | None = None
    turns: list[Turn] = field(default_factory=list)
    last_ending: TurnState | None = None
    calls: dict[str, ToolCall] = field(default_factory=dict)
    terminals: dict[str, bool] = field(default_factory=dict)
    compactions: dict[str, str] = field(default_factory=dict)
    replaced: Session | None = None

    @property
    def turn(self) -> Turn | None:
        """The active turn."""
        return self.turns[0] if self.turns else None

    @property
    def is_known(self) -> bool:
        """Whether messages may name it: a closed session is like one that never was."""
        return self.status is not SessionStatus.CLOSED

    def close(self) -> None:
        """The session is closed; what was only needed to judge its messages goes."""
        self.status = SessionStatus.CLOSED
        for table in (self.calls, self.terminals, self.compactions):
            table.clear()
