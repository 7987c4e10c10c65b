"""Defect: _meta of an update is a list."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-246"
LEVEL = "valid"


class Agent(RawAgent):
    def plan(self, turn: RunningTurn) -> None:
        entries = [{"content": "think", "priority": "high", "status": "pending"}]
        self.update(turn.session, "plan", entries=entries, _meta=["x"])


if __name__ == "__main__":
    run(Agent())
