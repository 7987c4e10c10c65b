"""Defect: commands are announced before the answer that gives the session its id (B101)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Session, run

FINDS = "R-059"
LEVEL = "valid"


class Agent(RawAgent):
    def session_new(self, id_: Any, params: Message) -> Message | None:
        session = Session(f"s{self.made + 1}", "/")
        self.opened(session)
        return super().session_new(id_, params)


if __name__ == "__main__":
    run(Agent())
