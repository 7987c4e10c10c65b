"""Defect: the loop runs on at full speed when there is nothing to do."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-314"
LEVEL = "valid"


class Agent(RawAgent):
    def pause(self, ready: list[RunningTurn]) -> float | None:
        return 0


if __name__ == "__main__":
    run(Agent())
