"""Defect: the locations of a tool call are relative paths."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-193"
LEVEL = "valid"


class Agent(RawAgent):
    def progress(self, turn: RunningTurn, status: str, **members: Any) -> None:
        if "locations" in members:
            members["locations"] = [{"path": "note.txt"}]
        super().progress(turn, status, **members)


if __name__ == "__main__":
    run(Agent())
