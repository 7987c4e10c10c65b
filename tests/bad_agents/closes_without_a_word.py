"""Defect: the turn of a session that is closed is never answered (B121)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-072"
LEVEL = "valid"


class Agent(RawAgent):
    def session_close(self, id_: Any, params: Message) -> Message | None:
        session = self.known(params)
        self.stored[session.id] = self.sessions.pop(session.id)
        return None


if __name__ == "__main__":
    run(Agent())
