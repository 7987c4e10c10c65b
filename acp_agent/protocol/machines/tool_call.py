"""The life of one tool call, from its first announcement to its result.

Owns a call's statuses, and the facts for the rule that a call whose permission is open or refused neither starts nor
succeeds; `failed` stays open to it, because that is how a refused call normally ends.

Deliberately absent: the transitions (`classes.py`); the call's content, its id, and the check that the id is known. A
call may be announced with any first status; the machine is asked only about what happens next. Nothing leads back from
`completed` or `failed`, not even a change of content: who watches a sloppy peer sees "no edge" and judges it.
"""

from enum import StrEnum
from typing import NamedTuple


class ToolCallState(StrEnum):
    """The wire's own words for a call's status."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class ToolCallEvent(StrEnum):
    """What moves a tool call."""

    START = "start"
    """The tool begins to run."""
    COMPLETE = "complete"
    """The tool has succeeded."""
    FAIL = "fail"
    """The tool has failed, was refused, or was cancelled."""
    TOUCH = "touch"
    """Content, title or locations change and the status does not (a repeated status included)."""


class ToolCallFacts(NamedTuple):
    """What the guards ask about.

    permission_open: a permission request for this call is unanswered.
    permission_denied: an answer did not grant it (a reject option, `cancelled`, or an error).
    """

    permission_open: bool = False
    permission_denied: bool = False


def permission_open(facts: ToolCallFacts) -> bool:
    """Whether somebody still has to say yes or no."""
    return facts.permission_open


def permission_denied(facts: ToolCallFacts) -> bool:
    """Whether somebody said no."""
    return facts.permission_denied
