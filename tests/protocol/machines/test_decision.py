"""The parts of a table: values that compare by what they say and that nobody changes."""

from __future__ import annotations

import pytest

from acp_agent.protocol.machines.decision import Step
from acp_agent.protocol.machines.step import TURN
from acp_agent.protocol.machines.turn import TurnEvent, TurnFacts, TurnState


def test_a_step_is_equal_to_another_that_says_the_same() -> None:
    """Requirement: a step is a value; without reasons it needs only what happened."""
    assert Step(TurnState.DONE, TurnEvent.FAIL, None) == Step(TurnState.DONE, TurnEvent.FAIL, None, (), None)


def test_steps_facts_and_tables_cannot_be_changed() -> None:
    """Requirement: every caller shares them, so none can move another's machine."""
    for value, name in (
        (Step(TurnState.DONE, TurnEvent.FAIL, None), "after"),
        (TurnFacts(), "calls_open"),
        (TURN, "initial"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, None)
