"""Defect: every session has the same id."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-059"
LEVEL = "valid"


class Agent(RawAgent):
    def session_id(self) -> str:
        return "default"


if __name__ == "__main__":
    run(Agent())
