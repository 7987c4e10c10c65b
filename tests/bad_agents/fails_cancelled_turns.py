"""Defect: a cancelled turn ends with an error (B114)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-157"
LEVEL = "valid"


class Agent(RawAgent):
    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        if reason == "cancelled":
            turn.session.turns.remove(turn)
            self.error(turn.id, -32603, "coroutine was cancelled")
        else:
            super().end_turn(turn, reason)


if __name__ == "__main__":
    run(Agent())
