"""What the messages of a prompt turn do to it: updates, permission requests and their answers, cancels, the end.

Each kind of message has a function that judges it (nothing changes) and one that applies it. The T numbers are
those of docs/state-machines.md. Role-neutral: `own` says that we are about to send the message ourselves, so that
nothing can have crossed it and a finding is certain.
Deliberately absent: JSON-RPC ids and schemas; conversation.py has checked both before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import AcpErrorCode
from acp_agent.protocol.machines.step import TOOL_CALL, TURN, step
from acp_agent.protocol.machines.tool_call import ToolCallEvent, ToolCallFacts, ToolCallState
from acp_agent.protocol.machines.turn import TurnEvent, TurnFacts, TurnState
from acp_agent.protocol.paths import judge_call_paths
from acp_agent.protocol.resources import judge_embedded
from acp_agent.protocol.sessions import Cancel, Permission, Session, SessionStatus, ToolCall, Turn
from acp_agent.protocol.verdicts import Severity, Verdict, inferred, suspect, violation, warning

# Update kinds that belong to a turn; all others may come at any time (methods.py names no kinds: they are payload).
CHUNK_KINDS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "plan"})
CALL_KINDS: Final = frozenset({"tool_call", "tool_call_update"})
TURN_KINDS: Final = CHUNK_KINDS | CALL_KINDS

# Nothing leads back to pending.
_CALL_EVENTS: Final = {
    ToolCallState.IN_PROGRESS: ToolCallEvent.START,
    ToolCallState.COMPLETED: ToolCallEvent.COMPLETE,
    ToolCallState.FAILED: ToolCallEvent.FAIL,
}


# -- Updates: T3 to T5


def judge_update(session: Session, update: dict[str, Any], *, flushing: bool) -> Iterator[Verdict]:
    """Findings on an update of a turn kind, for a session that is known.

    flushing: the other side's stream has ended and with it every turn; what was on its way may still come.
    """
    opening = session.status is SessionStatus.OPENING
    if opening and session.opening == "session/resume":
        sentence = "a resume replays nothing"
        yield violation("update_kind_not_allowed", sentence, sessionId=session.id)
    elif (session.turn is None or session.turn.waiting) and not opening and not flushing:
        # R-158 says so of a cancelled turn; of any other it is our reading.
        make = violation if session.last_ending is TurnState.CANCELLED else inferred
        sentence = "updates of a turn come before the answer to its prompt"
        yield make("update_late", sentence, sessionId=session.id, state=session.last_ending or "none")
    if update["sessionUpdate"] not in CALL_KINDS:
        return
    yield from judge_call_paths(update, session.id, "/update")
    if opening:
        return  # a replay shows calls in whatever status they ended, and terminals of another connection
    yield from judge_embedded(session, update, "/update")
    call = session.calls.get(update["toolCallId"])
    if update["sessionUpdate"] == "tool_call" and call is not None and call.announced:
        sentence = "a tool call is announced once in a session"
        yield inferred("tool_call_duplicate", sentence, sessionId=session.id)
    elif update["sessionUpdate"] == "tool_call_update" and call is None:
        sentence = "an update names a tool call that was announced"
        yield inferred("tool_call_unknown", sentence, sessionId=session.id)
    elif call is not None and call.left_open and not flushing:
        sentence = "a tool call does not go on after its turn"
        yield inferred("update_late", sentence, sessionId=session.id, state=call.state)
    elif call is not None:
        yield from _judge_status(session, call, update.get("status"), call.facts())


def apply_update(session: Session, update: dict[str, Any]) -> None:
    """Take in an update of a turn kind; one with findings too, since an observer has to follow the agent."""
    turn = session.turn
    if update["sessionUpdate"] not in CALL_KINDS:
        if turn is not None:
            _move(turn, TurnEvent.START_STREAMING)
        return
    call = _merge_call(session, turn, update)
    if update["sessionUpdate"] == "tool_call":
        call.announced = True
    if turn is not None:
        _move(turn, TurnEvent.CHANGE_CALL)


def _judge_status(
    session: Session, call: ToolCall, status: str | None, facts: ToolCallFacts
) -> Iterator[Verdict]:
    target = call.state if status is None else ToolCallState(status)
    stays = target is call.state
    event = ToolCallEvent.TOUCH if stays else _CALL_EVENTS.get(target)
    moved = step(TOOL_CALL, call.state, event, facts) if event is not None else None
    if moved is not None and moved.after is not None:
        return
    if call.state in TOOL_CALL.final:
        sentence = "a tool call that has ended changes no more"
        make = warning if stays else inferred
        yield make("tool_status_backwards", sentence, sessionId=session.id, state=call.state)
    elif moved is None:
        sentence = "a tool call that runs does not become pending"
        yield inferred("tool_status_backwards", sentence, sessionId=session.id, state=call.state)
    else:
        how = "is open" if "permission_open" in moved.failed_guards else "was refused"
        sentence = f"a tool does not run when its permission {how}"
        yield inferred("permission_not_awaited", sentence, sessionId=session.id, state=call.state)


def _merge_call(session: Session, turn: Turn | None, members: dict[str, Any]) -> ToolCall:
    """Create or change a call; absent and null members leave it as it was."""
    id_ = members["toolCallId"]
    status = members.get("status")
    call = session.calls.get(id_)
    if call is None:
        call = session.calls[id_] = ToolCall(id_, ToolCallState(status or ToolCallState.PENDING))
    elif status is not None and call.state not in TOOL_CALL.final:
        call.state = ToolCallState(status)
    if turn is not None and not call.left_open:
        if call.state in TOOL_CALL.final:
            turn.open_calls.pop(id_, None)
        else:
            turn.open_calls[id_] = call
    return call


# -- Permission requests and their answers: T6 to T8


def judge_permission_request(session: Session, params: dict[str, Any], *, own: bool) -> Iterator[Verdict]:
    """Findings on a `session/request_permission`, for a session that is known.

    Those with a path below `/toolCall` are about what is shown beside the question.
    """
    if session.turn is None:
        sentence = "permission is asked in an active turn"
        where = {"sessionId": session.id, "state": session.last_ending or "none"}
        yield inferred("no_active_turn", sentence, **where)
        return
    if own and session.turn.whole_turn_cancelled:
        sentence = "no permission is asked after a cancel"
        yield inferred("cancelled", sentence, sessionId=session.id, state=session.turn.state)
    announced = params["toolCall"]
    yield from judge_call_paths(announced, session.id, "/toolCall")
    yield from judge_embedded(session, announced, "/toolCall")
    call = session.calls.get(announced["toolCallId"])
    if call is None:
        call = ToolCall(announced["toolCallId"], ToolCallState.PENDING)
    if call.permission_open or call.left_open or call.state in TOOL_CALL.final:
        sentence = "a tool call waits for one permission at a time, and only before it ends"
        yield inferred("permission_not_awaited", sentence, sessionId=session.id, state=call.state)
    else:
        facts = ToolCallFacts(permission_open=True)
        for verdict in _judge_status(session, call, announced.get("status"), facts):
            yield verdict._replace(where={**verdict.where, "path": "/toolCall/status"})


def apply_permission_request(session: Session, params: dict[str, Any]) -> Permission:
    """Open a permission; the call is created from the request's members if it was not announced (R-182)."""
    turn = session.turn
    call = _merge_call(session, turn, params["toolCall"])
    call.permission_open += 1
    if turn is not None:
        turn.permissions_open += 1
        _move(turn, TurnEvent.ASK_PERMISSION)
    return Permission(turn, call, {option["optionId"]: option["kind"] for option in params["options"]})


def judge_permission_answer(
    permission: Permission, session_id: str, result: dict[str, Any] | None, error: RpcError | None
) -> Iterator[Verdict]:
    """Findings on the client's answer. Both it and the cancel it must obey go the same way: order is proof."""
    turn = permission.turn
    cancelled = turn is not None and turn.whole_turn_cancelled
    outcome = result["outcome"] if result is not None else None
    if cancelled and (outcome is None or outcome["outcome"] != "cancelled"):
        sentence = "after session/cancel the outcome of an open permission is cancelled"
        yield violation("permission_not_cancelled", sentence, sessionId=session_id)
    elif outcome is None or cancelled:
        return
    elif outcome["outcome"] == "selected" and outcome["optionId"] not in permission.options:
        yield violation(
            "permission_option_foreign", "the chosen option was not offered", sessionId=session_id
        )
    elif (
        outcome["outcome"] == "cancelled"
        and turn is not None
        and turn.state not in TURN.final  # an ended turn has left it open: any answer is fair
        and not turn.cancel
        and not permission.withdrawn
    ):
        sentence = (
            "the outcome cancelled means that the turn was cancelled; a refusal selects a reject option"
        )
        yield warning("permission_not_cancelled", sentence, sessionId=session_id)


def apply_permission_answer(permission: Permission, result: dict[str, Any] | None) -> None:
    """Close a permission; anything but a known option that allows leaves the call denied."""
    if permission.withdrawn:
        return
    outcome = result["outcome"] if result is not None else {}
    # Beside another outcome it is a stranger: of any type, and it selects nothing.
    chosen = outcome["optionId"] if outcome.get("outcome") == "selected" else ""
    kind = permission.options.get(chosen, "")
    _close_permission(permission, granted=kind.startswith("allow"))


def withdraw_permission(permission: Permission) -> None:
    """The agent has cancelled its own request: the call is not granted and its turn may end without the answer."""
    if not permission.withdrawn:
        permission.withdrawn = True
        _close_permission(permission, granted=False)


def _close_permission(permission: Permission, *, granted: bool) -> None:
    call, turn = permission.call, permission.turn
    call.permission_open -= 1
    call.denied = not granted
    if turn is not None:
        turn.permissions_open -= 1
        _move(turn, TurnEvent.ANSWER_PERMISSION)


# -- Cancel and the end: T9 to T16


def note_cancel(turn: Turn) -> None:
    """A cancel of any kind was read or sent; its kind is in turn.cancel already. The state stays."""
    _move(turn, TurnEvent.CANCEL)


def judge_prompt_result(turn: Turn, result: dict[str, Any], *, own: bool) -> Iterator[Verdict]:
    """Findings on a result of `session/prompt`."""
    event, facts = _ending(turn, result, own=own)
    moved = step(TURN, turn.state, event, facts)
    where = {"sessionId": turn.session_id, "state": str(turn.state)}
    for guard in moved.failed_guards:
        if guard == "cancel_asked" and event is TurnEvent.FINISH:
            severity = Severity.VIOLATION if own else Severity.SUSPECT
            sentence = "a cancelled turn ends with stop reason cancelled"
            yield Verdict(severity, "stop_reason_not_cancelled", sentence, where)
        elif guard == "cancel_asked":
            sentence = "the stop reason cancelled needs a cancel by the client"
            yield inferred("stop_reason_unasked", sentence, **where)
        elif guard == "permissions_open":
            yield inferred("end_with_open_permission", "a turn ends when no permission is open", **where)
        else:
            yield inferred("end_with_open_call", "every tool call has ended before its turn ends", **where)


def judge_prompt_error(turn: Turn, error: RpcError, *, own: bool) -> Iterator[Verdict]:
    """Findings on an error response of `session/prompt` (T12, T13, T14)."""
    event, facts = _error_event(error), turn.facts()
    if own and turn.cancel and event is TurnEvent.FAIL:
        # a cancel of one request too is answered as such; a peer's failure may have crossed it.
        facts = facts._replace(turn_cancel_asked=True)
    moved = step(TURN, turn.state, event, facts)
    if moved.after is None:
        sentence = "a cancelled turn ends with stop reason cancelled, not with an error"
        # The code answers `$/cancel_request`: where there was one, the answer to it may have crossed the other cancel.
        crossed = error.code != AcpErrorCode.REQUEST_CANCELLED or Cancel.REQUEST in turn.cancel
        certain = own or not crossed
        make = violation if certain else suspect
        yield make("cancel_as_error", sentence, sessionId=turn.session_id, state=str(turn.state))


def end_turn(turn: Turn, result: dict[str, Any] | None, error: RpcError | None) -> None:
    """The answer of the prompt ends the turn, whatever it holds; a final state never changes again.

    result, error: both None for an answer that can't be read as one (T16).
    """
    session = turn.session
    if result is not None:
        event, facts = _ending(turn, result, own=False)
    else:
        event = TurnEvent.REJECT_ANSWER if error is None else _error_event(error)
        facts = turn.facts()
    moved = step(TURN, turn.state, event, facts)
    after = moved.after or moved.forced
    if after is not None:
        turn.state = after
    for call in turn.open_calls.values():
        call.left_open = True
    turn.open_calls.clear()
    session.last_ending = turn.state
    session.turns = [active for active in session.turns if active is not turn]


def disconnect(session: Session) -> None:
    """The connection has left `ready`: every active turn of the session has failed (T15)."""
    for turn in session.turns:
        _move(turn, TurnEvent.DISCONNECT)
        session.last_ending = turn.state
    session.turns = []


def _ending(turn: Turn, result: dict[str, Any], *, own: bool) -> tuple[TurnEvent, TurnFacts]:
    """The event a result stands for, and the facts that bind whoever sends it.

    Ours: any cancel forbids another stop reason, and calls are closed before `end_turn` and `cancelled`. A peer may
    have answered before it read the cancel of one request (R-167), and may leave calls open when cancelled (T11).
    """
    if result["stopReason"] == "cancelled":
        return TurnEvent.FINISH_CANCELLED, turn.facts(with_open_calls=own)
    to_the_end = result["stopReason"] == "end_turn"
    return TurnEvent.FINISH, turn.facts(with_open_calls=to_the_end, with_cancel_of_request=own)


def _error_event(error: RpcError) -> TurnEvent:
    return TurnEvent.STOP_CANCELLED if error.code == AcpErrorCode.REQUEST_CANCELLED else TurnEvent.FAIL


def _move(turn: Turn, event: TurnEvent) -> None:
    """Step the turn's machine; a refused event leaves the state (the judge has reported it)."""
    moved = step(TURN, turn.state, event, turn.facts())
    if moved.after is not None:
        turn.state = moved.after
