"""Defect: a cancelled turn stops and is never answered."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-155"
LEVEL = "valid"


class Agent(RawAgent):
    def stop(self, turn: RunningTurn) -> None:
        turn.steps.close()
        turn.waiting = "nothing"


if __name__ == "__main__":
    run(Agent())
