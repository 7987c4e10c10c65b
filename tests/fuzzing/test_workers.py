"""Several processes share a campaign's budget, and their finds are one book."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_agent.client.errors import CannotStartAgent
from acp_agent.fuzzing.campaign import Budget, Settings
from acp_agent.fuzzing.exchange import Deadlines
from acp_agent.fuzzing.program import Level
from acp_agent.fuzzing.workers import run_on, shares

PACE = Deadlines(answer_s=20.0, turn_s=20.0, cancel_s=20.0, exit_s=20.0, settle_s=0.02)


def test_examples_are_shared_out_and_seeds_are_far_apart() -> None:
    """No worker draws what another one draws."""
    how = Settings(Level.VALID, Budget(examples=10), seed=7)
    parts = shares(how, 3)
    assert [part.budget.examples for part in parts] == [4, 3, 3]
    assert len({part.seed for part in parts}) == 3
    assert min(abs(a.seed - b.seed) for a in parts for b in parts if a is not b) >= 1_000_000


def test_two_workers_do_together_what_was_asked() -> None:
    """And tell what the agent broke once."""
    agent = Path(__file__).resolve().parents[1] / "bad_agents" / "prints_a_banner.py"
    how = Settings(Level.VALID, Budget(examples=4, shrink_plays=3), seed=7)
    results = run_on(2, [sys.executable, "-I", "-S", str(agent)], how, PACE)
    assert results.examples == 4
    assert [find.finding.key for find in results.sorted_finds()] == [("R-005", "parse_error")]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_that_cannot_be_started_is_said_once(workers: int) -> None:
    """By whichever worker is the first to see it."""
    how = Settings(Level.VALID, Budget(examples=4), seed=7)
    with pytest.raises(CannotStartAgent, match="no-such-agent"):
        run_on(workers, ["no-such-agent"], how, PACE)
