"""Defect: each turn leaves megabytes behind."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-314"
LEVEL = "valid"


class Agent(RawAgent):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[bytearray] = []

    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        self.kept.append(bytearray(b"x" * 80_000_000))
        super().end_turn(turn, reason)


if __name__ == "__main__":
    run(Agent())
