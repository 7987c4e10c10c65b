"""The state machine library's own engine, asked in the terms of our tables."""

from __future__ import annotations

from statemachine import StateMachine
from statemachine.exceptions import TransitionNotAllowed


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
