"""Defect: an update has a kind that the protocol does not have."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-019"
LEVEL = "valid"


class Agent(RawAgent):
    def plan(self, turn: RunningTurn) -> None:
        self.update(turn.session, "plan_started", title="a plan")


if __name__ == "__main__":
    run(Agent())
