"""The generated tables against the library's own engine, which runs the classes they were made of."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.engine import engine_state, engine_step
from statemachine import StateMachine

from acp_agent.protocol.machines.classes import ConnectionMachine, ToolCallMachine, TurnMachine
from acp_agent.protocol.machines.connection import ConnectionFacts
from acp_agent.protocol.machines.step import CONNECTION, TOOL_CALL, TURN, Table, step
from acp_agent.protocol.machines.tool_call import ToolCallFacts
from acp_agent.protocol.machines.turn import TurnFacts


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


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_table_and_engine_agree_on_every_state_event_and_guard_outcome(pair: Pair) -> None:
    """Requirement: the table says what the class says, nothing more and nothing less."""
    for state, event, facts in itertools.product(
        pair.table.decisions, pair.table.decisions[pair.table.initial], pair.facts
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


def test_the_engine_refuses_to_guess_when_the_facts_are_not_given() -> None:
    """Requirement: guards are fed by keyword; forgetting the facts is an error, not a closed guard."""
    with pytest.raises(TypeError):
        TurnMachine().send("finish")
