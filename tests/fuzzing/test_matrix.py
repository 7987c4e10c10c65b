"""Whole agents: the conforming one shows nothing, and each bad one is found, by its rule, in a short exchange.

In an ordinary run a few of them; all, and the conforming one ten times as long, with ACP_MATRIX (tox -e fuzz-matrix).
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from matrix import (
    BUDGET,
    CONFORMING,
    PATIENT,
    SHRINK_PLAYS,
    BadAgent,
    bad_agents,
    play,
    play_bad,
    rows_of_table,
)

from acp_agent.fuzzing.campaign import Budget
from acp_agent.fuzzing.program import Level
from acp_agent.protocol.rules import RULES

WHOLE = bool(os.environ.get("ACP_MATRIX"))
AGENTS = bad_agents()
FEW = 5
FEW_EXAMPLES = 120
FEW_SHRINK_PLAYS = 15
MOST_MESSAGES = 30
"""Of an exchange as short as it gets: a handful of the client's, and what the agent says in a turn."""


def chosen() -> list[BadAgent]:
    """All, or a few by their names' hashes, so that which ones has nothing to do with the alphabet."""
    if WHOLE:
        return AGENTS
    return sorted(AGENTS, key=lambda agent: hashlib.sha256(agent.name.encode()).digest())[:FEW]


@pytest.mark.timeout(0 if WHOLE else 300)
@pytest.mark.parametrize("level", Level)
def test_the_conforming_agent_shows_nothing(level: Level) -> None:
    """And what the client did was legal, in the level that promises it; turns got to each of their ends."""
    results = play(CONFORMING, level, Budget(examples=10 * BUDGET if WHOLE else FEW_EXAMPLES), PATIENT)
    assert [find.finding for find in results.finds.values()] == []
    assert results.own == set()
    assert results.coverage["connection"].states >= 2
    assert results.coverage["turn"].states >= 5
    assert len(results.rules) >= 40


@pytest.mark.timeout(0 if WHOLE else 300)
@pytest.mark.parametrize("agent", chosen(), ids=lambda agent: agent.name)
def test_each_bad_agent_is_found(agent: BadAgent) -> None:
    """Within the budget, by the rule it breaks, and shortened."""
    results = play_bad(agent, SHRINK_PLAYS if WHOLE else FEW_SHRINK_PLAYS)
    found = [find for find in results.finds.values() if find.rule.id == agent.finds]
    assert found, [find.finding for find in results.finds.values()]
    if WHOLE:
        assert min(find.messages for find in found) <= MOST_MESSAGES
    if agent.level is Level.VALID:
        assert results.own == set()


def test_there_are_agents_enough_and_each_names_a_rule_for_agents() -> None:
    """One defect a file, said in its first line."""
    assert len(AGENTS) >= 40
    for agent in AGENTS:
        assert RULES[agent.finds].side != "client", agent.name
        assert agent.defect, agent.name


def test_the_table_is_about_these_agents() -> None:
    """Who adds one plays it: python tests/fuzzing/matrix.py NAME."""
    rows = rows_of_table()
    assert sorted(rows) == [agent.name for agent in AGENTS]
    for agent in AGENTS:
        assert (
            f"| {agent.defect} | {agent.finds} ({RULES[agent.finds].tier}) | {agent.level} |"
            in rows[agent.name]
        )
        assert "not found" not in rows[agent.name]
