"""Defect: a prompt is answered when it is taken and again at its end."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-016"
LEVEL = "valid"


class Agent(RawAgent):
    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        super().end_turn(turn, reason)
        self.result(turn.id, {"stopReason": reason})


if __name__ == "__main__":
    run(Agent())
