"""Defect: an update names a tool call that nobody has heard of (B102)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-188"
LEVEL = "valid"


class Agent(RawAgent):
    def announce(self, turn: RunningTurn, title: str, kind: str) -> str:
        turn.call = self.call_id(turn)
        return turn.call


if __name__ == "__main__":
    run(Agent())
