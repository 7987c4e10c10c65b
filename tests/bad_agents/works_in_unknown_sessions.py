"""Defect: a prompt for a session that does not exist makes one (B156)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Session, run

FINDS = "R-070"
LEVEL = "hostile"


class Agent(RawAgent):
    def known(self, params: Message) -> Session:
        name = self.text_of(params, "sessionId")
        return self.sessions.setdefault(name, Session(name, "/"))


if __name__ == "__main__":
    run(Agent())
