"""Plans: legal ones lead to legal traffic, weights are kept, and what they shrink to is simple."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from acp_agent.fuzzing.model import MOST_STEPS, programs, valid_steps, weighted
from acp_agent.fuzzing.program import (
    LEGAL_REACTIONS,
    Call,
    Level,
    Line,
    ListSessions,
    Open,
    Program,
    Prompt,
    Step,
    Stray,
)


@given(programs(Level.VALID, ("go", "on")))
@settings(max_examples=50)
def test_a_valid_plan_has_no_hostile_step(program: Program) -> None:
    """That what it leads to is legal is seen when it is played (test_matrix.py)."""
    assert program.early == ()
    assert set(program.reactions) <= set(LEGAL_REACTIONS)
    assert len(program.steps) <= MOST_STEPS * 5
    for step in program.steps:
        assert not isinstance(step.action, Line | Call | Stray)
        assert step.changes == ()
        assert not (isinstance(step.action, Prompt) and step.action.overlap)
        assert not (isinstance(step.action, ListSessions) and step.action.cursor)


def test_a_hostile_plan_mixes_both() -> None:
    """Most faults need a conversation that has got somewhere."""
    drawn: list[set[type]] = []

    @settings(max_examples=60, database=None, derandomize=True, phases=[Phase.generate])
    @given(programs(Level.HOSTILE))
    def collect(program: Program) -> None:
        drawn.append({type(step.action) for step in program.steps})

    collect()
    assert [kinds for kinds in drawn if Prompt in kinds and kinds & {Line, Call, Stray}]


def test_the_simplest_plan_does_nothing() -> None:
    """And the simplest step opens a session in plain JSON: little else can be done with fewer messages."""
    few = settings(database=None, max_examples=100)
    assert find(programs(Level.VALID), lambda program: True, settings=few) == Program()
    assert find(valid_steps(("go",)), lambda step: True, settings=few) == Step(Open())


@pytest.mark.parametrize(("weight", "least"), [(1, 20), (9, 130)])
def test_weights_are_kept(weight: int, least: int) -> None:
    """`one_of` would take a choice that is there ten times for one."""
    drawn: list[str] = []

    @settings(max_examples=200, database=None, derandomize=True)
    @given(weighted((weight, st.just("often")), (1, st.just("rarely"))), st.integers())
    def collect(word: str, _: int) -> None:
        drawn.append(word)

    collect()
    assert drawn.count("often") >= least
    assert "rarely" in drawn
