"""The records a conversation keeps: sessions, their turns, tool calls and permission requests.

Plain tables, keyed as ACP keys them. Owns what is derived from them: the facts the machines ask for.
Deliberately absent: what a message does to them (turns.py, conversation.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.machines.step import TURN
from acp_agent.protocol.machines.tool_call import ToolCallFacts, ToolCallState
from acp_agent.protocol.machines.turn import TurnFacts, TurnState


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


@dataclass(slots=True)
class ToolCall:
    """A tool call. Its id is unique in the session, for ever.

    announced: it had its `tool_call`; a permission request may name a call before that.
    permission_open: how many permission requests for it are unanswered. denied: an answer did not grant it.
    """

    id: str
    state: ToolCallState
    announced: bool = False
    permission_open: int = 0
    denied: bool = False

    def facts(self) -> ToolCallFacts:
        """What the tool call machine asks about."""
        return ToolCallFacts(permission_open=self.permission_open > 0, permission_denied=self.denied)


@dataclass(slots=True)
class Turn:
    """A prompt and all that answers it, owned by the request's id.

    open_calls: the calls of this turn that are pending or in progress. cancel: how it was asked to stop.
    """

    request_id: RequestId
    session_id: str
    state: TurnState = TURN.initial
    cancel: set[Cancel] = field(default_factory=set)
    permissions_open: int = 0
    open_calls: dict[str, ToolCall] = field(default_factory=dict)

    @property
    def whole_turn_cancelled(self) -> bool:
        """Whether a cancel was asked that must be answered with stop reason `cancelled`."""
        return Cancel.SESSION_CANCEL in self.cancel or Cancel.CLOSE in self.cancel

    def facts(self) -> TurnFacts:
        """What the turn machine asks about, with every open call counted."""
        return TurnFacts(
            permissions_open=self.permissions_open,
            calls_running=sum(call.state is ToolCallState.IN_PROGRESS for call in self.open_calls.values()),
            calls_open=len(self.open_calls),
            cancel_asked=bool(self.cancel),
            turn_cancel_asked=self.whole_turn_cancelled,
        )


@dataclass(slots=True)
class Permission:
    """An unanswered `session/request_permission`. options: the kind of each offered option id.

    withdrawn: the agent has cancelled the request; whatever comes now settles it quietly.
    """

    turn: Turn | None
    call: ToolCall
    options: dict[str, str]
    withdrawn: bool = False


@dataclass(slots=True)
class Session:
    """A session of this connection.

    turns: the prompts without an answer, oldest first; updates belong to the first one.
    calls: every tool call ever announced. terminals: id to whether it is live (not released).
    """

    id: str
    status: SessionStatus
    cwd: str
    has_modes: bool = False
    has_config_options: bool = False
    turns: list[Turn] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    terminals: dict[str, bool] = field(default_factory=dict)
    compactions: dict[str, str] = field(default_factory=dict)

    @property
    def turn(self) -> Turn | None:
        """The active turn."""
        return self.turns[0] if self.turns else None
