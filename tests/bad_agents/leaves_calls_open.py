"""Defect: a turn ends with a tool call that has no end (B106)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-134"
LEVEL = "valid"


class Agent(RawAgent):
    def run_tool(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        self.progress(turn, "in_progress")
        yield


if __name__ == "__main__":
    run(Agent())
