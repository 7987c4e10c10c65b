"""Defect: a notice is sent to a client that does not know them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, Session, run

FINDS = "R-147"
LEVEL = "valid"


class Agent(RawAgent):
    def opened(self, session: Session) -> None:
        super().opened(session)
        self.update(session, "notice", severity="info", title="Welcome", description="hello")


if __name__ == "__main__":
    run(Agent())
