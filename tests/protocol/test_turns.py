"""A turn's state follows from its calls and permissions alone, whatever order they come in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol import turns
from acp_agent.protocol.sessions import Cancel, Permission, Session, SessionStatus, Turn

CALLS = ["a", "b", "c"]
STATUSES = [None, "pending", "in_progress", "completed", "failed"]
OPTIONS = [
    {"optionId": "y", "name": "Y", "kind": "allow_always"},
    {"optionId": "n", "name": "N", "kind": "reject_once"},
]
STEPS = st.one_of(
    st.tuples(st.just("chunk"), st.just(""), st.none()),
    st.tuples(st.just("call"), st.sampled_from(CALLS), st.sampled_from(STATUSES)),
    st.tuples(st.just("ask"), st.sampled_from(CALLS), st.sampled_from(STATUSES)),
    st.tuples(st.just("answer"), st.sampled_from(["y", "n", "foreign", "error"]), st.integers(0, 3)),
    st.tuples(st.just("withdraw"), st.just(""), st.integers(0, 3)),
    st.tuples(st.just("cancel"), st.sampled_from([*Cancel]), st.none()),
)


def session_with_turn() -> tuple[Session, Turn]:
    session = Session("s", SessionStatus.OPEN)
    turn = Turn(1, session)
    session.turns = [turn]
    return session, turn


def take(session: Session, turn: Turn, permissions: list[Permission], step: tuple[Any, Any, Any]) -> bool:
    """Apply one message whether or not it is legal, as who watches has to; whether it has shown something."""
    kind, name, value = step
    if kind == "chunk":
        turns.apply_update(session, {"sessionUpdate": "plan", "entries": []})
    elif kind == "call":
        turns.apply_update(
            session, {"sessionUpdate": "tool_call", "toolCallId": name, "title": "t", "status": value}
        )
    elif kind == "ask":
        call = {"toolCallId": name, "status": value}
        permissions.append(turns.apply_permission_request(session, {"toolCall": call, "options": OPTIONS}))
    elif kind == "cancel":
        turn.cancel.add(name)
        turns.note_cancel(turn)
    elif permissions:
        permission = permissions.pop(value % len(permissions))
        if kind == "withdraw":
            turns.withdraw_permission(permission)
            turns.withdraw_permission(permission)
        outcome = {"outcome": {"outcome": "selected", "optionId": name}}
        turns.apply_permission_answer(permission, None if name == "error" else outcome)
    return kind in {"chunk", "call", "ask"}


@given(st.lists(STEPS, max_size=30))
def test_the_state_is_the_first_condition_that_holds(steps: list[tuple[Any, Any, Any]]) -> None:
    """Section 4: `recompute` depends only on the tables; here they are kept a second time, by hand."""
    session, turn = session_with_turn()
    permissions: list[Permission] = []
    seen = False
    for step in steps:
        seen = take(session, turn, permissions, step) or seen
        running = any(call.state == "in_progress" for call in session.calls.values())
        expected = "awaiting_permission" if permissions else "running_tool" if running else "streaming"
        assert turn.state == (expected if seen else "pending")
        assert turn.permissions_open == len(permissions)
        assert set(turn.open_calls) == {
            call.id for call in session.calls.values() if call.state in {"pending", "in_progress"}
        }
        assert sum(call.permission_open for call in session.calls.values()) == len(permissions)


ENDINGS: list[tuple[Any, Any]] = [
    *(
        ({"stopReason": reason}, None)
        for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
    ),
    *((None, RpcError(code, "m")) for code in (-32800, -32603)),
    (None, None),
]


@given(st.lists(STEPS, max_size=12), st.sampled_from(ENDINGS))
def test_every_answer_ends_the_turn_for_good(
    steps: list[tuple[Any, Any, Any]], ending: tuple[Any, Any]
) -> None:
    """T10 to T16: whatever it holds; and nothing that comes later moves it, or belongs to the next one."""
    session, turn = session_with_turn()
    permissions: list[Permission] = []
    for step in steps:
        take(session, turn, permissions, step)
    left = list(turn.open_calls.values())
    turns.end_turn(turn, *ending)
    final = turn.state
    assert final in {"done", "cancelled", "failed"}
    assert session.last_ending == final
    assert session.turn is None
    assert turn.open_calls == {}
    assert all(call.left_open for call in left)
    following = Turn(2, session)
    session.turns = [following]
    for permission in permissions:
        turns.apply_permission_answer(permission, None)
    for call in left:
        turns.apply_update(
            session, {"sessionUpdate": "tool_call_update", "toolCallId": call.id, "status": "pending"}
        )
    turns.note_cancel(turn)
    assert turn.state == final
    assert following.open_calls == {}
    assert following.permissions_open == 0


@pytest.mark.parametrize(
    ("cancel", "ending", "state"),
    [
        (set(), ({"stopReason": "end_turn"}, None), "done"),
        (set(), ({"stopReason": "cancelled"}, None), "cancelled"),
        (set(), (None, RpcError(-32800, "m")), "cancelled"),
        (set(), (None, RpcError(-32603, "m")), "failed"),
        (set(), (None, None), "failed"),
        ({Cancel.REQUEST}, ({"stopReason": "end_turn"}, None), "done"),
        ({Cancel.REQUEST}, (None, RpcError(-32800, "m")), "cancelled"),
        ({Cancel.REQUEST}, (None, RpcError(-32603, "m")), "failed"),
        ({Cancel.SESSION_CANCEL}, ({"stopReason": "end_turn"}, None), "done"),
        ({Cancel.SESSION_CANCEL}, ({"stopReason": "cancelled"}, None), "cancelled"),
        ({Cancel.SESSION_CANCEL}, (None, RpcError(-32800, "m")), "cancelled"),
        ({Cancel.SESSION_CANCEL}, (None, RpcError(-32603, "m")), "cancelled"),
        ({Cancel.CLOSE}, (None, RpcError(-32603, "m")), "cancelled"),
        ({Cancel.CLOSE}, (None, None), "failed"),
    ],
)
def test_how_a_turn_ends(cancel: set[Cancel], ending: tuple[Any, Any], state: str) -> None:
    """R1: an answer that crossed the cancel is done; T13: an error after it is cancelled; T16."""
    _, turn = session_with_turn()
    turn.cancel |= cancel
    turns.end_turn(turn, *ending)
    assert turn.state == state


def test_the_end_of_the_connection_fails_every_turn() -> None:
    """T15: those that wait, too."""
    session, turn = session_with_turn()
    waiting = Turn(2, session)
    session.turns.append(waiting)
    turns.disconnect(session)
    assert (turn.state, waiting.state, session.turns) == ("failed", "failed", [])


def test_the_end_of_a_waiting_turn_leaves_the_active_one() -> None:
    """A queued prompt that is cancelled is answered before the one that runs."""
    session, turn = session_with_turn()
    waiting = Turn(2, session)
    session.turns.append(waiting)
    turns.end_turn(waiting, {"stopReason": "cancelled"}, None)
    assert session.turns == [turn]
    assert turn.state == "pending"
