"""Defect: a tool call shows a terminal that was never created."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-194"
LEVEL = "valid"


class Agent(RawAgent):
    def progress(self, turn: RunningTurn, status: str, **members: Any) -> None:
        if status == "completed":
            members["content"] = [{"type": "terminal", "terminalId": "gone"}]
        super().progress(turn, status, **members)


if __name__ == "__main__":
    run(Agent())
