"""The records: what is derived from them, and that they are told apart by what they are, not by what they hold."""

from __future__ import annotations

import pytest

from acp_agent.protocol.machines.tool_call import ToolCallFacts, ToolCallState
from acp_agent.protocol.machines.turn import TurnFacts, TurnState
from acp_agent.protocol.methods import METHODS
from acp_agent.protocol.sessions import (
    OPENING_REQUESTS,
    REQUESTS_IN_SESSION,
    SETUP_REQUESTS,
    Cancel,
    Session,
    SessionStatus,
    ToolCall,
    Turn,
)


def test_the_requests_that_name_an_open_session_are_those_whose_type_requires_one() -> None:
    """Derived by hand, held against the schemas; `session/delete` names what need not be open."""
    from acp_agent.protocol import schema

    naming = {
        name
        for name, method in METHODS.items()
        if method.is_request and "sessionId" in schema.node(method.params).get("required", ())
    }
    assert naming == REQUESTS_IN_SESSION | OPENING_REQUESTS | {"session/delete"}
    assert OPENING_REQUESTS | {"session/new"} == SETUP_REQUESTS


def test_the_facts_of_a_call_are_about_its_permission() -> None:
    """An answer closes it; a refusal stays."""
    call = ToolCall("c", ToolCallState.PENDING)
    assert call.facts() == ToolCallFacts(permission_open=False, permission_denied=False)
    call.permission_open, call.denied = 2, True
    assert call.facts() == ToolCallFacts(permission_open=True, permission_denied=True)


def test_the_facts_of_a_turn_count_its_open_calls() -> None:
    """Calls running are a part of the calls open."""
    turn = Turn(1, Session("s", SessionStatus.OPEN))
    assert turn.session_id == "s"
    assert turn.state is TurnState.PENDING
    assert turn.facts() == TurnFacts()
    turn.open_calls = {
        "a": ToolCall("a", ToolCallState.IN_PROGRESS),
        "b": ToolCall("b", ToolCallState.PENDING),
    }
    turn.permissions_open = 3
    assert turn.facts() == TurnFacts(permissions_open=3, calls_running=1, calls_open=2)
    assert turn.facts(with_open_calls=False).calls_open == 0


@pytest.mark.parametrize(
    ("cancel", "asked", "whole", "without_request"),
    [
        (set(), False, False, False),
        ({Cancel.REQUEST}, True, False, False),
        ({Cancel.SESSION_CANCEL}, True, True, False),
        ({Cancel.CLOSE, Cancel.REQUEST}, True, True, False),
    ],
)
def test_the_kinds_of_cancel_bind_differently(
    cancel: set[Cancel], asked: bool, whole: bool, without_request: bool
) -> None:
    """R-169: only a cancel of the whole turn forbids an error; a peer need not have read one of the request."""
    turn = Turn(1, Session("s", SessionStatus.OPEN), cancel=cancel)
    assert turn.whole_turn_cancelled is whole
    facts = turn.facts()
    assert (facts.cancel_asked, facts.turn_cancel_asked) == (asked, whole)
    facts = turn.facts(with_cancel_of_request=False)
    assert (facts.cancel_asked, facts.turn_cancel_asked) == (without_request, whole)


def test_the_active_turn_is_the_oldest_without_an_answer() -> None:
    """Updates belong to it; the others wait."""
    session = Session("s", SessionStatus.OPEN)
    assert session.turn is None
    session.turns = [Turn(1, session), Turn(2, session)]
    assert session.turn is session.turns[0]


def test_a_closed_session_is_like_one_that_never_was() -> None:
    """It is not known any more and keeps no tables."""
    session = Session("s", SessionStatus.OPEN, terminals={"t": True}, compactions={"k": "completed"})
    session.calls["c"] = ToolCall("c", ToolCallState.FAILED)
    assert session.is_known
    session.close()
    assert not session.is_known
    assert (session.calls, session.terminals, session.compactions) == ({}, {}, {})


def test_records_are_told_apart_by_identity() -> None:
    """Two turns with the same members are two turns: an answer must end its own."""
    session = Session("s", SessionStatus.OPEN)
    assert Turn(1, session) != Turn(1, session)
    assert Session("s", SessionStatus.OPEN) != session
