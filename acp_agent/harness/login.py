"""The agent's program when a client starts it for a login in a terminal: it puts down how it was started, and ends.

Owns the words of that command line. Deliberately absent: judging it (scenarios/auth.py does, when all is over).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from acp_agent.harness.part import Part, PartFile
from acp_agent.harness.scenario import Scenario

OPTION: Final = "--log-in"
VARIABLE: Final = "ACP_HARNESS_LOGIN"
FAILS: Final = "so that it fails"
"""The word of a login that is to fail; with any other it works."""


def log_in(scenario: Scenario, directory: Path, word: str) -> int:
    """Leave a part that says how the program was started; returns its exit code."""
    started = {"arguments": sys.argv[1:], "variable": os.environ.get(VARIABLE)}
    file = PartFile.claim(directory)
    file.save(Part(scenario.id, file.life, over=True, reason="this was a login", notes={"login": started}))
    return 1 if word == FAILS else 0
