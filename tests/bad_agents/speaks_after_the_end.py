"""Defect: the last piece of text comes after the answer to the prompt."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-135"
LEVEL = "valid"


class Agent(RawAgent):
    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        super().end_turn(turn, reason)
        if reason == "end_turn":
            self.say(turn, "one more thing")


if __name__ == "__main__":
    run(Agent())
