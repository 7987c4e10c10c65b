"""The machines as declared: the one place where the transitions of a connection, a turn and a tool call stand.

Each class names its states by the values of its enum and its events by theirs; `compile.py` refuses a class that
forgets one. What it makes of them is written into `tables.py` and DIAGRAMS.md by `generate.py`.

Deliberately absent: callbacks, listeners and any run. The product never imports this module, because the library and
the making of the classes cost a start more than all machines together; only tests run the classes, in the library's
own engine, beside the tables.
"""

from __future__ import annotations

from typing import ClassVar

from statemachine import State, StateMachine

from .connection import ConnectionState, version_spoken
from .tool_call import ToolCallState, permission_denied, permission_open
from .turn import (
    TurnEvent,
    TurnState,
    calls_open,
    calls_running,
    cancel_asked,
    permissions_open,
    turn_cancel_asked,
)


class ConnectionMachine(StateMachine):
    """The one place where the transitions of a connection stand."""

    uninitialised = State(ConnectionState.UNINITIALISED, ConnectionState.UNINITIALISED, initial=True)
    ready = State(ConnectionState.READY, ConnectionState.READY)
    closing = State(ConnectionState.CLOSING, ConnectionState.CLOSING, final=True)

    agree_version = uninitialised.to(ready, cond=version_spoken)
    refuse_version = uninitialised.to(closing, unless=version_spoken)
    fail_initialize = uninitialised.to(uninitialised)
    end_stream = closing.from_(uninitialised, ready)


class TurnMachine(StateMachine):
    """The one place where the transitions of a turn stand.

    Where an event has several edges from a state, their guards exclude each other, so their order means
    nothing.
    """

    pending = State(TurnState.PENDING, TurnState.PENDING, initial=True)
    streaming = State(TurnState.STREAMING, TurnState.STREAMING)
    awaiting_permission = State(TurnState.AWAITING_PERMISSION, TurnState.AWAITING_PERMISSION)
    running_tool = State(TurnState.RUNNING_TOOL, TurnState.RUNNING_TOOL)
    done = State(TurnState.DONE, TurnState.DONE, final=True)
    cancelled = State(TurnState.CANCELLED, TurnState.CANCELLED, final=True)
    failed = State(TurnState.FAILED, TurnState.FAILED, final=True)

    start_streaming = (
        pending.to(streaming)
        | streaming.to(streaming)
        | awaiting_permission.to(awaiting_permission)
        | running_tool.to(running_tool)
    )

    change_call = (
        awaiting_permission.from_(
            pending, streaming, awaiting_permission, running_tool, cond=permissions_open
        )
        | running_tool.from_(
            pending, streaming, awaiting_permission, running_tool, cond=calls_running, unless=permissions_open
        )
        | streaming.from_(
            pending, streaming, awaiting_permission, running_tool, unless=[permissions_open, calls_running]
        )
    )

    ask_permission = awaiting_permission.from_(pending, streaming, awaiting_permission, running_tool)
    answer_permission = (
        awaiting_permission.to(awaiting_permission, cond=permissions_open)
        | awaiting_permission.to(running_tool, cond=calls_running, unless=permissions_open)
        | awaiting_permission.to(streaming, unless=[permissions_open, calls_running])
    )

    cancel = (
        pending.to(pending)
        | streaming.to(streaming)
        | awaiting_permission.to(awaiting_permission)
        | running_tool.to(running_tool)
    )

    finish = done.from_(
        pending,
        streaming,
        awaiting_permission,
        running_tool,
        unless=[cancel_asked, permissions_open, calls_open],
    )
    finish_cancelled = cancelled.from_(
        pending,
        streaming,
        awaiting_permission,
        running_tool,
        cond=cancel_asked,
        unless=[permissions_open, calls_open],
    )
    stop_cancelled = cancelled.from_(
        pending, streaming, awaiting_permission, running_tool, unless=turn_cancel_asked
    )
    fail = failed.from_(pending, streaming, awaiting_permission, running_tool, unless=turn_cancel_asked)
    disconnect = failed.from_(pending, streaming, awaiting_permission, running_tool)
    reject_answer = failed.from_(pending, streaming, awaiting_permission, running_tool)

    # An observer cannot refuse an answer: it ends the turn, rightly or not. Normally that is where the
    # refused edge would have led; an error after a cancel of the whole turn ends it as cancelled all the
    # same (T13).
    forced: ClassVar[dict[str, TurnState]] = {TurnEvent.FAIL: TurnState.CANCELLED}


# Shared by every edge that means "the tool did or does its work".
_UNPERMITTED = [permission_open, permission_denied]


class ToolCallMachine(StateMachine):
    """The one place where the transitions of a tool call stand."""

    pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
    in_progress = State(ToolCallState.IN_PROGRESS, ToolCallState.IN_PROGRESS)
    completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
    failed = State(ToolCallState.FAILED, ToolCallState.FAILED, final=True)

    start = pending.to(in_progress, unless=_UNPERMITTED)
    complete = completed.from_(pending, in_progress, unless=_UNPERMITTED)
    fail = failed.from_(pending, in_progress)
    touch = pending.to(pending) | in_progress.to(in_progress)
