"""Defect: a cancel is read and the turn goes on to its end (B117)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, Session, run

FINDS = "R-156"
LEVEL = "valid"


class Agent(RawAgent):
    def cancel(self, session: Session) -> None:
        """Nothing is done."""


if __name__ == "__main__":
    run(Agent())
