"""The compiled tables against the library's own engine, which runs the same classes; and what compiling refuses."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statemachine import State, StateMachine
from statemachine.exceptions import TransitionNotAllowed

from acp_agent.protocol.machines.connection import ConnectionFacts, ConnectionMachine
from acp_agent.protocol.machines.step import CONNECTION, TOOL_CALL, TURN, Table, compile_table, step
from acp_agent.protocol.machines.tool_call import (
    ToolCallEvent,
    ToolCallFacts,
    ToolCallMachine,
    ToolCallState,
)
from acp_agent.protocol.machines.turn import TurnFacts, TurnMachine, TurnState


class Pair(NamedTuple):
    """A table, the class it was made of, and every outcome its guards can have."""

    table: Table[Any, Any, Any]
    machine: type[StateMachine]
    facts: list[Any]


PAIRS = [
    Pair(CONNECTION, ConnectionMachine, [ConnectionFacts(False), ConnectionFacts(True)]),
    Pair(
        TURN,
        TurnMachine,
        [
            TurnFacts(*outcome)
            for outcome in itertools.product((0, 1), (0, 1), (0, 1), (False, True), (False, True))
        ],
    ),
    Pair(
        TOOL_CALL,
        ToolCallMachine,
        [ToolCallFacts(*outcome) for outcome in itertools.product((False, True), repeat=2)],
    ),
]
NAMES = [pair.table.name for pair in PAIRS]


def engine_step(machine: StateMachine, event: str, facts: object) -> str | None:
    """The engine's answer in the table's terms: the state it came to, or None for a refused event."""
    try:
        machine.send(event, facts=facts)
    except TransitionNotAllowed:
        return None
    return engine_state(machine)


def engine_state(machine: StateMachine) -> str:
    (state,) = machine.configuration
    return str(state.value)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_table_and_engine_agree_on_every_state_event_and_guard_outcome(pair: Pair) -> None:
    """Requirement: the table says what the class says, nothing more and nothing less."""
    for state, event, facts in itertools.product(
        pair.table.edges, pair.table.decisions[pair.table.initial], pair.facts
    ):
        machine = pair.machine(start_value=state)
        assert step(pair.table, state, event, facts).after == engine_step(machine, event, facts), (
            state,
            event,
            facts,
        )


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_table_and_engine_agree_on_long_walks(pair: Pair, data: st.DataObject) -> None:
    """Requirement: they stay together over many steps, refused ones included."""
    events = list(pair.table.decisions[pair.table.initial])
    walk = data.draw(st.lists(st.tuples(st.sampled_from(events), st.sampled_from(pair.facts)), max_size=40))
    state = pair.table.initial
    machine = pair.machine()
    assert engine_state(machine) == state
    for event, facts in walk:
        after = step(pair.table, state, event, facts).after
        assert after == engine_step(machine, event, facts)
        state = after if after is not None else state
        assert engine_state(machine) == state


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_table_and_class_have_the_same_initial_and_final_states(pair: Pair) -> None:
    """Requirement: the class is the one source of the table's ends, too."""
    assert pair.table.initial == pair.machine.initial_state.value
    assert pair.table.final == {state.value for state in pair.machine.final_states}


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_at_most_one_edge_is_open_for_an_event(pair: Pair) -> None:
    """Requirement: guards exclude each other, so the drawing needs no order to be understood."""
    for state, ways in pair.table.edges.items():
        for event, edges in ways.items():
            for facts in pair.facts:
                ready = [
                    edge
                    for edge in edges
                    if all(guard.holds(facts) is guard.expected for guard in edge.guards)
                ]
                after = step(pair.table, state, event, facts).after
                assert [edge.target for edge in ready] == ([] if after is None else [after])


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_a_step_makes_no_object(pair: Pair) -> None:
    """Requirement: all answers exist beforehand, so that a step costs a lookup and its guards."""
    for state, ways in pair.table.decisions.items():
        for event in ways:
            for facts in pair.facts:
                assert step(pair.table, state, event, facts) is step(pair.table, state, event, facts)


def test_the_engine_refuses_to_guess_when_the_facts_are_not_given() -> None:
    """Requirement: guards are fed by keyword; forgetting the facts is an error, not a closed guard."""
    with pytest.raises(TypeError):
        TurnMachine().send("finish")


class LampMachine(StateMachine):
    """A machine to compile wrongly."""

    pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
    completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
    start = pending.to(completed)


def test_compiling_refuses_a_class_without_one_of_the_states() -> None:
    """Requirement: enum and class cannot drift apart unseen."""
    with pytest.raises(ValueError, match="LampMachine: its states are not those of ToolCallState"):
        compile_table(LampMachine, ToolCallState, ToolCallEvent, ToolCallFacts)


def test_compiling_refuses_a_class_without_one_of_the_events() -> None:
    """Requirement: an event that the enum names and the class forgot is found at import."""

    class FewerEventsMachine(StateMachine):
        pending = State(ToolCallState.PENDING, ToolCallState.PENDING, initial=True)
        in_progress = State(ToolCallState.IN_PROGRESS, ToolCallState.IN_PROGRESS)
        completed = State(ToolCallState.COMPLETED, ToolCallState.COMPLETED, final=True)
        failed = State(ToolCallState.FAILED, ToolCallState.FAILED, final=True)
        start = pending.to(in_progress) | in_progress.to(completed) | in_progress.to(failed)

    with pytest.raises(ValueError, match="does not have all events of ToolCallEvent"):
        compile_table(FewerEventsMachine, ToolCallState, ToolCallEvent, ToolCallFacts)


def test_compiling_refuses_an_event_the_enum_does_not_name() -> None:
    """Requirement: an event of the class that nobody can ask for is found at import."""
    with pytest.raises(ValueError, match="start_streaming"):
        compile_table(TurnMachine, TurnState, ToolCallEvent, TurnFacts)


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

    table = compile_table(SharedEdgeMachine, ToolCallState, ToolCallEvent, ToolCallFacts)
    for event in (ToolCallEvent.START, ToolCallEvent.TOUCH):
        assert step(table, ToolCallState.PENDING, event, ToolCallFacts()).after is ToolCallState.IN_PROGRESS
