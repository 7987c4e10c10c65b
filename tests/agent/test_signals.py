"""A signal that comes before the agent is up."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from acp_agent.agent.signals import EXIT_CODES


@pytest.mark.parametrize("number", EXIT_CODES)
def test_a_signal_while_the_configuration_is_read_ends_with_its_code(number: signal.Signals) -> None:
    """Editors that start an agent and think better of it: no traceback, and the code of an orderly end."""
    program = (
        "import os; from acp_agent import cli, config;"
        f"config.load = lambda *_: os.kill(os.getpid(), {number.value});"
        "cli.main(['serve'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_CODES[number], b"", b"")
