"""Defect: a terminal is never released (B159)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-221"
LEVEL = "valid"


class Agent(RawAgent):
    def release(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        turn.terminal = ""
        yield


if __name__ == "__main__":
    run(Agent())
