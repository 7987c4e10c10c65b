"""Defect: the current value of an option is none of its values."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Session, run

FINDS = "R-115"
LEVEL = "valid"


class Agent(RawAgent):
    def options(self, session: Session) -> list[Message]:
        options = super().options(session)
        options[0]["currentValue"] = "default"
        return options


if __name__ == "__main__":
    run(Agent())
