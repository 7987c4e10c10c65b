"""Tool calls, merged as the protocol says."""

from __future__ import annotations

from acp_agent.client.tool_calls import ToolCalls

DIFF = {"type": "diff", "path": "/f", "newText": "x"}


def test_defaults_are_those_of_the_protocol() -> None:
    """R-185."""
    call = ToolCalls().apply({"toolCallId": "c1", "title": "t"})
    assert (call.kind, call.status, call.content, call.locations) == ("other", "pending", [], [])


def test_absent_and_null_members_change_nothing() -> None:
    """B039 and the notes on ToolCallUpdate."""
    calls = ToolCalls()
    calls.apply(
        {"toolCallId": "c1", "title": "t", "kind": "edit", "status": "in_progress", "content": [DIFF]}
    )
    call = calls.apply({"toolCallId": "c1", "title": None, "kind": None, "status": None, "content": None})
    assert (call.title, call.kind, call.status, call.content) == ("t", "edit", "in_progress", [DIFF])


def test_lists_are_replaced_and_can_be_emptied() -> None:
    """R-187."""
    calls = ToolCalls()
    calls.apply({"toolCallId": "c1", "title": "t", "content": [DIFF], "locations": [{"path": "/f"}]})
    call = calls.apply({"toolCallId": "c1", "content": [], "locations": [{"path": "/g"}]})
    assert (call.content, call.locations) == ([], [{"path": "/g"}])


def test_a_second_announcement_keeps_what_was_shown() -> None:
    """B044: the diff stays, though the second `tool_call` does not have it."""
    calls = ToolCalls()
    calls.apply({"toolCallId": "c1", "title": "t"})
    calls.apply({"toolCallId": "c1", "content": [DIFF]})
    call = calls.apply({"toolCallId": "c1", "title": "t", "rawInput": {"a": 1}})
    assert (call.content, call.raw_input) == ([DIFF], {"a": 1})


def test_an_update_for_an_unknown_call_makes_it() -> None:
    """R-182: a permission request may name a call that was never announced."""
    calls = ToolCalls()
    assert calls.apply({"toolCallId": "c9", "status": "failed"}).has_ended


def test_a_cancel_marks_what_has_not_ended_until_the_agent_says_how_it_did() -> None:
    """R-153, B022."""
    calls = ToolCalls()
    calls.apply({"toolCallId": "c1", "title": "t", "status": "completed"})
    calls.apply({"toolCallId": "c2", "title": "t", "status": "in_progress"})
    assert [call.id for call in calls.cancel_unfinished()] == ["c2"]
    assert calls.cancel_unfinished() == []
    call = calls.apply({"toolCallId": "c2", "title": "late"})
    assert call.cancelled
    call = calls.apply({"toolCallId": "c2", "status": "completed"})
    assert (call.cancelled, call.status) == (False, "completed")


def test_calls_are_counted_by_kind() -> None:
    calls = ToolCalls()
    for number, kind in enumerate(["execute", "execute", "read", "edit", "delete", "move", "think", "other"]):
        calls.apply({"toolCallId": str(number), "title": "t", "kind": kind, "status": "completed"})
    assert (calls.commands, calls.file_operations) == (2, 4)


def test_the_recap_counts_what_ran_and_skills_apart() -> None:
    """A refused call is no command, and a loaded skill is no file operation."""
    calls = ToolCalls()
    calls.apply({"toolCallId": "1", "kind": "execute", "status": "pending"})
    calls.apply({"toolCallId": "1", "status": "failed"})
    calls.apply({"toolCallId": "2", "kind": "execute", "status": "pending"})
    calls.apply({"toolCallId": "2", "status": "in_progress"})
    calls.apply({"toolCallId": "2", "status": "failed"})
    calls.apply({"toolCallId": "3", "kind": "read", "name": "read_skill", "status": "completed"})
    calls.apply({"toolCallId": "4", "kind": "read", "status": "completed"})
    assert (calls.commands, calls.file_operations, calls.skills) == (1, 1, 1)


def test_a_skill_that_could_not_be_read_is_not_counted() -> None:
    """It has begun, and nothing was loaded; nor has it as long as it has not ended."""
    calls = ToolCalls()
    for id_, status in (("1", "in_progress"), ("2", "in_progress"), ("2", "failed")):
        calls.apply({"toolCallId": id_, "kind": "read", "name": "read_skill", "status": status})
    assert calls.skills == 0
