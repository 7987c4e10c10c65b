"""What a Client tells whoever uses it, in the order in which the agent sent it.

Deliberately absent: the results of calls, which come back from the methods that made them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from acp_agent.client.permissions import PermissionRequest
from acp_agent.protocol.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """`session/new` was answered. result: valid for NewSessionResponse. Comes before any update of the session."""

    session_id: str
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class UpdateReceived:
    """One `session/update`. update: a valid SessionUpdate, its kind in `sessionUpdate`.

    turn: which turn of the session it belongs to, counted from 1; None outside a turn, so also for what comes late.
    """

    session_id: str
    update: dict[str, Any]
    turn: int | None


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent asks for a permission; the answer is the business of the Client's `permission`."""

    request: PermissionRequest


@dataclass(frozen=True, slots=True)
class PermissionAnswered:
    """A permission request was answered. option_id: None when no option was selected.

    cancelled: the outcome was `cancelled`, because the turn was or because the agent took its question back.
    """

    request: PermissionRequest
    option_id: str | None
    cancelled: bool


@dataclass(frozen=True, slots=True)
class AgentMisbehaved:
    """The agent broke the protocol, and the connection goes on. verdict: which rule, how sure we are."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """The agent has ended; nothing more will come. sentence: how."""

    sentence: str


ClientEvent = (
    SessionOpened | UpdateReceived | PermissionAsked | PermissionAnswered | AgentMisbehaved | AgentEnded
)
