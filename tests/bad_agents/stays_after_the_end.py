"""Defect: the end of the input does not end the agent."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-313"
LEVEL = "valid"


class Agent(RawAgent):
    def ended(self) -> int:
        time.sleep(600)
        return 0


if __name__ == "__main__":
    run(Agent())
