"""A script's death carries the exit code of its process."""

from __future__ import annotations

import pytest

from acp_agent.harness.endings import Died


@pytest.mark.parametrize("exit_code", [0, 1, 137])
def test_a_death_has_the_exit_code_and_says_it(exit_code: int) -> None:
    """The process leaves with it, and the transcript tells it."""
    death = Died(exit_code)
    assert (death.exit_code, str(death)) == (exit_code, f"the agent exits with {exit_code}")
