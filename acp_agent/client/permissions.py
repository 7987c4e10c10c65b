"""A permission the agent asks for, and the ways to decide without a person.

Owns the choice among options by their kind. Deliberately absent: asking a person (chat.py) and the wire (client.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One answer on offer. kind: allow_once, allow_always, reject_once or reject_always; id says nothing."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A `session/request_permission`. tool_call: a ToolCallUpdate as it came; only `toolCallId` is certain."""

    session_id: str
    tool_call: dict[str, Any]
    options: tuple[PermissionOption, ...]

    @property
    def tool_call_id(self) -> str:
        """The call it is about."""
        return str(self.tool_call["toolCallId"])

    def option(self, option_id: str) -> PermissionOption | None:
        """The option of this id, None if it is not on offer."""
        return next((option for option in self.options if option.id == option_id), None)

    def refusal(self) -> str | None:
        """The id of the option that refuses, this time only if there is such a one; None if nothing refuses."""
        for kind in ("reject_once", "reject_always"):
            for option in self.options:
                if option.kind == kind:
                    return option.id
        return None


Choice = str | None
"""The id of an option, or None: not granted, and no option on offer says so."""

Decide = Callable[[PermissionRequest], Choice | Awaitable[Choice]]
"""Answers permission requests; an awaited answer may take its time while everything else goes on.

It is cancelled when the turn is, when the agent takes the question back, and when the agent ends.
"""


def read_request(params: dict[str, Any]) -> PermissionRequest:
    """The request in valid params of `session/request_permission`."""
    options = tuple(
        PermissionOption(option["optionId"], option["name"], option["kind"]) for option in params["options"]
    )
    return PermissionRequest(params["sessionId"], params["toolCall"], options)


def reject(request: PermissionRequest) -> Choice:
    """Refuse: what a Client does unless it is told otherwise."""
    return request.refusal()


def allow_once(request: PermissionRequest) -> Choice:
    """Grant it this once, if exactly one option does that; refuse otherwise.

    Several such options are a question to a person ("which of these?"), and `always` was never asked for.
    """
    allowing = [option.id for option in request.options if option.kind == "allow_once"]
    return allowing[0] if len(allowing) == 1 else request.refusal()
