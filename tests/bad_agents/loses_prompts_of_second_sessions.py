"""Defect: a new session makes the one before it unusable (B149)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-132"
LEVEL = "valid"


class Agent(RawAgent):
    def can_go_on(self, turn: RunningTurn) -> bool:
        return turn.session is list(self.sessions.values())[-1] and super().can_go_on(turn)


if __name__ == "__main__":
    run(Agent())
