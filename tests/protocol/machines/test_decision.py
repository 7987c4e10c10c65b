"""The parts of a table: values that compare by what they say and that nobody changes."""

from __future__ import annotations

import pytest

from acp_agent.protocol.machines.decision import Step
from acp_agent.protocol.machines.step import TURN
from acp_agent.protocol.machines.turn import TurnEvent, TurnFacts, TurnState


def test_a_step_is_equal_to_another_that_says_the_same() -> None:
    """Requirement: a step is a value; without reasons it needs only what happened."""
    assert Step(TurnState.DONE, TurnEvent.FAIL, None) == Step(TurnState.DONE, TurnEvent.FAIL, None, (), None)


@pytest.mark.parametrize(
    ("value", "name"), [(Step(TurnState.DONE, TurnEvent.FAIL, None), "after"), (TurnFacts(), "calls_open")]
)
def test_steps_and_facts_cannot_be_changed(value: object, name: str) -> None:
    """Requirement: every caller shares the steps, so none can move another's machine."""
    with pytest.raises(AttributeError):
        setattr(value, name, None)


def test_a_table_takes_no_other_attribute() -> None:
    """Requirement: a misspelt assignment is found where it happens."""
    with pytest.raises(AttributeError):
        TURN.__setattr__("inital", TurnState.DONE)
