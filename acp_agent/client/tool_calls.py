"""Tool calls as a person sees them: what was announced, and all changes to it, merged.

A member that is absent or null leaves what is known; `content` and `locations` replace the former list (R-187). A
second `tool_call` of one id changes the call and does not begin it anew, so what was shown is not lost.
Deliberately absent: whether a change was legal (protocol/turns.py) and how a call looks (screen.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

_ENDED: Final = frozenset({"completed", "failed"})
_FILE_KINDS: Final = frozenset({"read", "edit", "delete", "move"})


@dataclass(slots=True)
class ToolCallView:
    """One call. Members as on the wire, with the protocol's defaults for what was never given (R-185).

    name: the tool's own, where the agent tells it.
    cancelled: marked by us when the turn was cancelled; the wire has no such status (R-153).
    has_run: it was in progress or has completed; a refused call fails without either.
    """

    id: str
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    content: list[dict[str, Any]] = field(default_factory=list)
    locations: list[dict[str, Any]] = field(default_factory=list)
    raw_input: Any = None
    raw_output: Any = None
    name: str = ""
    cancelled: bool = False
    has_run: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether no more is to come."""
        return self.status in _ENDED or self.cancelled

    def merge(self, members: dict[str, Any]) -> None:
        """Take in a ToolCall or a ToolCallUpdate."""
        for name, attribute in _MEMBERS.items():
            value = members.get(name)
            if value is not None:
                setattr(self, attribute, value)
        self.has_run = self.has_run or self.status in _RUN
        if self.status in _ENDED:
            self.cancelled = False  # it did end by itself, after all


_RUN: Final = frozenset({"in_progress", "completed"})
_READ_SKILL: Final = "read_skill"
_MEMBERS: Final = {
    "title": "title",
    "name": "name",
    "kind": "kind",
    "status": "status",
    "content": "content",
    "locations": "locations",
    "rawInput": "raw_input",
    "rawOutput": "raw_output",
}


class ToolCalls:
    """The calls of one turn, by id, in the order in which they were first heard of."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCallView] = {}

    def apply(self, members: dict[str, Any]) -> ToolCallView:
        """Merge a ToolCall, a ToolCallUpdate or the `toolCall` of a permission request; an unknown id is a new call."""
        id_ = members["toolCallId"]
        call = self._calls.get(id_)
        if call is None:
            call = self._calls[id_] = ToolCallView(id_)
        call.merge(members)
        return call

    def __contains__(self, id_: str) -> bool:
        return id_ in self._calls

    def cancel_unfinished(self) -> list[ToolCallView]:
        """Mark every call that has not ended as cancelled (R-153); return them."""
        unfinished = [call for call in self._calls.values() if not call.has_ended]
        for call in unfinished:
            call.cancelled = True
        return unfinished

    @property
    def commands(self) -> int:
        """How many calls have executed something."""
        return sum(call.has_run and call.kind == "execute" for call in self._calls.values())

    @property
    def file_operations(self) -> int:
        """How many calls have read, edited, deleted or moved files."""
        ran = (call for call in self._calls.values() if call.has_run and call.name != _READ_SKILL)
        return sum(call.kind in _FILE_KINDS for call in ran)

    @property
    def skills(self) -> int:
        """How many calls have loaded one of Bob's skills; one that failed has loaded none."""
        calls = self._calls.values()
        return sum(call.status == "completed" and call.name == _READ_SKILL for call in calls)
