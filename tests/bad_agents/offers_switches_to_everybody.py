"""Defect: a boolean option is offered to a client that does not know them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Session, run

FINDS = "R-113"
LEVEL = "valid"


class Agent(RawAgent):
    def options(self, session: Session) -> list[Message]:
        options = super().options(session)
        if len(options) == 1:
            options.append({"id": "brief", "name": "Brief", "type": "boolean", "currentValue": False})
        return options


if __name__ == "__main__":
    run(Agent())
