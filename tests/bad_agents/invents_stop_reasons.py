"""Defect: a turn ends with a stop reason that the protocol does not have."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-137"
LEVEL = "valid"


class Agent(RawAgent):
    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        super().end_turn(turn, "stop" if reason == "end_turn" else reason)


if __name__ == "__main__":
    run(Agent())
