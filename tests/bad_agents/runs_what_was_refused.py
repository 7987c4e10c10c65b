"""Defect: a tool that was refused runs all the same."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-179"
LEVEL = "valid"


class Agent(RawAgent):
    def refused(self, turn: RunningTurn) -> None:
        self.progress(turn, "in_progress")
        self.progress(turn, "completed")


if __name__ == "__main__":
    run(Agent())
