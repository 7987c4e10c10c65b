"""What compiling a machine class gives, what it refuses, and that the tables in the tree are what it gives."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from statemachine import State, StateMachine

from acp_agent.protocol.machines import tables
from acp_agent.protocol.machines.classes import TurnMachine
from acp_agent.protocol.machines.compile import MACHINES, Compiled, compile_machine
from acp_agent.protocol.machines.step import step
from acp_agent.protocol.machines.tool_call import ToolCallEvent, ToolCallFacts, ToolCallState
from acp_agent.protocol.machines.turn import TurnFacts, TurnState

each_machine = pytest.mark.parametrize("read", MACHINES.values(), ids=MACHINES)


def all_facts(read: Compiled[Any, Any, Any]) -> list[Any]:
    """Every outcome the guards can have: a count is 0 or 1, which are false and true."""
    return [
        read.facts(*outcome) for outcome in itertools.product((False, True), repeat=len(read.facts._fields))
    ]


@pytest.mark.parametrize("name", MACHINES)
def test_the_generated_table_is_what_compiling_gives(name: str) -> None:
    """Requirement: the classes are the one source; the same states, events, questions and steps, in the same order."""
    generated, compiled = getattr(tables, name), MACHINES[name].table
    assert generated.__slots__ == ("decisions", "final", "initial", "name")
    for member in generated.__slots__:
        assert getattr(generated, member) == getattr(compiled, member)
    assert repr(generated.decisions) == repr(compiled.decisions)


@each_machine
def test_at_most_one_edge_is_open_for_an_event(read: Compiled[Any, Any, Any]) -> None:
    """Requirement: guards exclude each other, so the drawing needs no order to be understood."""
    for state, ways in read.edges.items():
        for event, edges in ways.items():
            for facts in all_facts(read):
                ready = [
                    edge
                    for edge in edges
                    if all(guard.holds(facts) is guard.expected for guard in edge.guards)
                ]
                after = step(read.table, state, event, facts).after
                assert [edge.target for edge in ready] == ([] if after is None else [after])


@each_machine
def test_no_edge_leaves_a_final_state(read: Compiled[Any, Any, Any]) -> None:
    """Requirement: what has ended has no way on in the class, and no other state is without one."""
    assert {state for state, ways in read.edges.items() if not ways} == read.table.final


class LampMachine(StateMachine):
    """A machine to compile wrongly."""

    pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
    completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
    start = pending.to(completed)


def test_compiling_refuses_a_class_without_one_of_the_states() -> None:
    """Requirement: enum and class cannot drift apart unseen."""
    with pytest.raises(ValueError, match="LampMachine: its states are not those of ToolCallState"):
        compile_machine(LampMachine, ToolCallState, ToolCallEvent, ToolCallFacts)


def test_compiling_refuses_a_class_without_one_of_the_events() -> None:
    """Requirement: an event that the enum names and the class forgot is found when compiling."""

    class FewerEventsMachine(StateMachine):
        pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
        in_progress = State(ToolCallState.IN_PROGRESS, ToolCallState.IN_PROGRESS)
        completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
        failed = State(ToolCallState.FAILED, ToolCallState.FAILED, final=True)
        start = pending.to(in_progress) | in_progress.to(completed) | in_progress.to(failed)

    with pytest.raises(ValueError, match="does not have all events of ToolCallEvent"):
        compile_machine(FewerEventsMachine, ToolCallState, ToolCallEvent, ToolCallFacts)


def test_compiling_refuses_an_event_the_enum_does_not_name() -> None:
    """Requirement: an event of the class that nobody can ask for is found when compiling."""
    with pytest.raises(ValueError, match="start_streaming"):
        compile_machine(TurnMachine, TurnState, ToolCallEvent, TurnFacts)


def test_several_events_may_share_one_edge() -> None:
    """Requirement: the library allows one transition to serve several events, and so does the table."""

    class SharedEdgeMachine(StateMachine):
        pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
        in_progress = State(ToolCallState.IN_PROGRESS, ToolCallState.IN_PROGRESS)
        completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
        failed = State(ToolCallState.FAILED, ToolCallState.FAILED, final=True)
        pending.to(in_progress, event="start touch")
        complete = in_progress.to(completed)
        fail = in_progress.to(failed)

    table = compile_machine(SharedEdgeMachine, ToolCallState, ToolCallEvent, ToolCallFacts).table
    for event in (ToolCallEvent.START, ToolCallEvent.TOUCH):
        assert step(table, ToolCallState.PENDING, event, ToolCallFacts()).after is ToolCallState.IN_PROGRESS
