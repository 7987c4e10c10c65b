"""Defect: an update carries a member of the agent's own beside those of the protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-249"
LEVEL = "valid"


class Agent(RawAgent):
    def progress(self, turn: RunningTurn, status: str, **members: Any) -> None:
        super().progress(turn, status, durationMs=3, **members)


if __name__ == "__main__":
    run(Agent())
