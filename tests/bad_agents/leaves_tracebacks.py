"""Defect: an exception that nobody catches in a turn is printed (B139)."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-318"
LEVEL = "valid"


class Agent(RawAgent):
    def plan(self, turn: RunningTurn) -> None:
        super().plan(turn)
        try:
            self.client["no such member"]
        except KeyError:
            traceback.print_exc()


if __name__ == "__main__":
    run(Agent())
