"""Calls in flight, by exact id, and which were answered lately."""

from __future__ import annotations

from acp_agent.jsonrpc.messages import Request, RequestId
from acp_agent.jsonrpc.pending import OpenCall, OpenCalls


def opened(*ids: RequestId) -> OpenCalls:
    calls = OpenCalls()
    for id_ in ids:
        calls.add(OpenCall(Request(id_, "m", {"a": 1})))
    return calls


def test_an_open_call_tells_what_was_asked() -> None:
    """The request's own members are at hand."""
    call = OpenCall(Request("x", "m", {"a": 1}))
    assert (call.id, call.method, call.params) == ("x", "m", {"a": 1})
    assert (call.session_id, call.subject, call.cancel_asked, call.refused) == (None, None, False, None)


def test_ids_are_told_apart_by_value_and_type() -> None:
    """R-016: `"1"` is not 1; null is an id of its own."""
    calls = opened(1, "1", None, "")
    assert len(calls) == 4
    call = calls.settle("1")
    assert call is not None
    assert call.id == "1"
    assert 1 in calls
    assert "1" not in calls
    assert [open_call.id for open_call in calls] == [1, None, ""]


def test_a_call_is_settled_once_and_remembered_as_answered() -> None:
    """A second response is told from a response to nobody."""
    calls = opened(1)
    assert not calls.was_answered(1)
    assert calls.settle(1) is not None
    assert calls.settle(1) is None
    assert calls.was_answered(1)
    assert not calls.was_answered(2)


def test_an_id_used_again_is_open_and_not_answered() -> None:
    """Reuse after the response is legal."""
    calls = opened(1)
    calls.settle(1)
    calls.add(OpenCall(Request(1, "again", {})))
    assert not calls.was_answered(1)
    call = calls.get(1)
    assert call is not None
    assert call.method == "again"


def test_the_memory_of_answered_ids_is_bounded() -> None:
    """A connection that lives for ever does not grow."""
    calls = OpenCalls()
    for id_ in range(5000):
        calls.add(OpenCall(Request(id_, "m", {})))
        calls.settle(id_)
    assert len(calls._answered) == 1024
    assert calls.was_answered(4999)
    assert not calls.was_answered(0)


def test_settling_while_going_through_the_open_calls_is_safe() -> None:
    """The end of a stream settles everything."""
    calls = opened(1, 2, 3)
    for call in calls:
        calls.settle(call.id)
    assert len(calls) == 0
