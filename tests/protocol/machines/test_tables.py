"""The generated tables are whole: an answer for every state, every event and whatever the facts are."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest

from acp_agent.protocol.machines.connection import ConnectionEvent, ConnectionState
from acp_agent.protocol.machines.decision import Node, Step
from acp_agent.protocol.machines.tables import CONNECTION, TOOL_CALL, TURN
from acp_agent.protocol.machines.tool_call import ToolCallEvent, ToolCallState
from acp_agent.protocol.machines.turn import TurnEvent, TurnState

each_table = pytest.mark.parametrize(
    ("table", "states", "events"),
    [
        (CONNECTION, ConnectionState, ConnectionEvent),
        (TURN, TurnState, TurnEvent),
        (TOOL_CALL, ToolCallState, ToolCallEvent),
    ],
)


def branches(node: Node[Any, Any, Any], asked: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every step below, with the questions on the way to it."""
    if isinstance(node, Step):
        yield node, asked
    else:
        holds, *answers = node
        for below in answers:
            yield from branches(below, (*asked, holds))


@each_table
def test_every_state_has_every_event(table: Any, states: type[StrEnum], events: type[StrEnum]) -> None:
    """Requirement: asking never fails with a missing key."""
    assert list(table.decisions) == list(states)
    assert all(list(ways) == list(events) for ways in table.decisions.values())


@each_table
def test_every_branch_ends_in_a_step_of_its_state_and_event_and_asks_nothing_twice(
    table: Any, states: type[StrEnum], events: type[StrEnum]
) -> None:
    """Requirement: whatever the facts, the answer is about what was asked, and has members of its own enums."""
    for state, ways in table.decisions.items():
        for event, node in ways.items():
            for taken, asked in branches(node):
                assert isinstance(taken, Step)
                assert (taken.before, taken.event) == (state, event)
                assert type(taken.before) is states
                assert type(taken.event) is events
                assert {type(taken.after), type(taken.forced)} <= {states, type(None)}
                assert len(set(asked)) == len(asked)
