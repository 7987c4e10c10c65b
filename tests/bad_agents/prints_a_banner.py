"""Defect: a line of the log goes to standard output (B132)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, Session, run

FINDS = "R-005"
LEVEL = "valid"


class Agent(RawAgent):
    def opened(self, session: Session) -> None:
        self.write(b"INFO session opened\n")
        super().opened(session)


if __name__ == "__main__":
    run(Agent())
