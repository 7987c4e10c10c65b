"""The life of one prompt turn, from the prompt to its answer.

Owns the states, events and facts of a turn (T3 to T16). While a turn is active its state says the
first of these that is true: somebody must answer a permission request, a tool runs, something has been
shown, nothing has. A cancel is no state: it is a fact, because everything else stays legal until the
answer, and what it forbids is written in the guards of the endings. With a cancel of the whole turn asked,
our own answers lead to `cancelled` only.

Deliberately absent: the transitions (`classes.py`); the tool calls and permission requests themselves (the caller
counts them into `TurnFacts`), the queue of turns, stop reasons, and text chunks after the first: a chunk changes no
state and costs no step.
"""

from enum import StrEnum
from typing import NamedTuple


class TurnState(StrEnum):
    """Where a turn stands; the last three are final."""

    PENDING = "pending"
    STREAMING = "streaming"
    AWAITING_PERMISSION = "awaiting_permission"
    RUNNING_TOOL = "running_tool"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class TurnEvent(StrEnum):
    """What moves a turn. The facts given are those after the event: a call it adds is already counted."""

    START_STREAMING = "start_streaming"
    """The first message chunk, thought chunk or plan; a later one need not be stepped (T3)."""
    CHANGE_CALL = "change_call"
    """A tool call appeared or changed (T4, T5)."""
    ASK_PERMISSION = "ask_permission"
    """The agent asks the person; the request counts as something shown, since it carries its call (T6)."""
    ANSWER_PERMISSION = "answer_permission"
    """One of the open permission requests is answered, in whatever way (T7, T8)."""
    CANCEL = "cancel"
    """`session/cancel`, `session/close`, or `$/cancel_request` for the prompt (T9)."""
    FINISH = "finish"
    """A result with any stop reason but `cancelled` (T10)."""
    FINISH_CANCELLED = "finish_cancelled"
    """A result with stop reason `cancelled` (T11)."""
    STOP_CANCELLED = "stop_cancelled"
    """The error -32800 (T12)."""
    FAIL = "fail"
    """Any other error (T14)."""
    DISCONNECT = "disconnect"
    """The connection left `ready` (T15)."""
    REJECT_ANSWER = "reject_answer"
    """An answer that cannot be read as one: its id is used up, the turn is over (T16). Never our own."""


class TurnFacts(NamedTuple):
    """What the guards ask about: counts within this turn, as they are once the event has been taken in.

    permissions_open: permission requests without an answer.
    calls_running: tool calls with status `in_progress`.
    calls_open: tool calls that are `pending` or `in_progress` and must have ended before the turn may end. A
        caller that allows an ending with open calls (early stop reasons; a watcher of a `cancelled`) gives 0.
    cancel_asked: any cancel of this turn, `$/cancel_request` included.
    turn_cancel_asked: a cancel that must be answered with stop reason `cancelled`: `session/cancel` or
        `session/close`. It implies `cancel_asked`, whatever that member says.
    """

    permissions_open: int = 0
    calls_running: int = 0
    calls_open: int = 0
    cancel_asked: bool = False
    turn_cancel_asked: bool = False


def permissions_open(facts: TurnFacts) -> bool:
    """Whether somebody still has to answer."""
    return facts.permissions_open > 0


def calls_running(facts: TurnFacts) -> bool:
    """Whether a tool is at work."""
    return facts.calls_running > 0


def calls_open(facts: TurnFacts) -> bool:
    """Whether a tool call has no result yet that needs one."""
    return facts.calls_open > 0


def cancel_asked(facts: TurnFacts) -> bool:
    """Whether anybody asked for this turn to be stopped, by either way."""
    return facts.cancel_asked or facts.turn_cancel_asked


def turn_cancel_asked(facts: TurnFacts) -> bool:
    """Whether the cancel was one that forbids an error as the answer."""
    return facts.turn_cancel_asked
