"""Defect: a library prints to standard output in the middle of a turn (B132)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-005"
LEVEL = "valid"


class Agent(RawAgent):
    def plan(self, turn: RunningTurn) -> None:
        self.write(b"warning: plan is experimental\n")
        super().plan(turn)


if __name__ == "__main__":
    run(Agent())
