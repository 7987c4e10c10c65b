"""Defect: a tool call is announced a second time when its input is known (B104)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-184"
LEVEL = "valid"


class Agent(RawAgent):
    def announce(self, turn: RunningTurn, title: str, kind: str) -> str:
        call = super().announce(turn, title, kind)
        self.update(turn.session, "tool_call", toolCallId=call, title=title, kind=kind, rawInput={"n": 1})
        return call


if __name__ == "__main__":
    run(Agent())
