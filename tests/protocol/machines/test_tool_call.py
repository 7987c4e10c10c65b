"""The tool call machine against a table written by hand, and what a refused permission bars for ever."""

from __future__ import annotations

import pytest

from acp_agent.protocol.machines.step import TOOL_CALL, step
from acp_agent.protocol.machines.tool_call import ToolCallEvent, ToolCallFacts, ToolCallState

# (state, event) -> (the next state, whether it needs a permission that is neither open nor denied).
BY_HAND = {
    ("pending", "start"): ("in_progress", True),
    ("pending", "complete"): ("completed", True),
    ("pending", "fail"): ("failed", False),
    ("pending", "touch"): ("pending", False),
    ("in_progress", "complete"): ("completed", True),
    ("in_progress", "fail"): ("failed", False),
    ("in_progress", "touch"): ("in_progress", False),
}

ALL_FACTS = [ToolCallFacts(asked, denied) for asked in (False, True) for denied in (False, True)]


@pytest.mark.parametrize("facts", ALL_FACTS, ids=repr)
@pytest.mark.parametrize("event", ToolCallEvent)
@pytest.mark.parametrize("state", ToolCallState)
def test_every_event_in_every_state_is_as_written_by_hand(
    state: ToolCallState, event: ToolCallEvent, facts: ToolCallFacts
) -> None:
    """Requirement: the status moves of section 5.1 and the permission rule of section 5.2."""
    taken = step(TOOL_CALL, state, event, facts)
    target, needs_permission = BY_HAND.get((state, event), (None, False))
    in_the_way = tuple(
        name for name in ("permission_open", "permission_denied") if needs_permission and getattr(facts, name)
    )
    assert (taken.before, taken.event) == (state, event)
    assert taken.after == (None if in_the_way else target)
    assert taken.failed_guards == in_the_way
    assert taken.forced == (target if in_the_way else None)


@pytest.mark.parametrize("facts", ALL_FACTS[1:], ids=repr)
def test_a_call_with_an_open_or_denied_permission_never_runs_nor_succeeds(facts: ToolCallFacts) -> None:
    """Requirement: walked as a graph, only `failed` can be reached while the permission is not granted."""
    reached = {ToolCallState.PENDING}
    waiting = [ToolCallState.PENDING]
    while waiting:
        state = waiting.pop()
        for event in ToolCallEvent:
            after = step(TOOL_CALL, state, event, facts).after
            if after is not None and after not in reached:
                reached.add(after)
                waiting.append(after)
    assert reached == {ToolCallState.PENDING, ToolCallState.FAILED}


@pytest.mark.parametrize("facts", ALL_FACTS, ids=repr)
def test_an_ended_call_knows_no_event(facts: ToolCallFacts) -> None:
    """Requirement: nothing leads back from `completed` or `failed`, whatever the facts."""
    for state in (ToolCallState.COMPLETED, ToolCallState.FAILED):
        for event in ToolCallEvent:
            refused = step(TOOL_CALL, state, event, facts)
            assert (refused.after, refused.failed_guards, refused.forced) == (None, (), None)
