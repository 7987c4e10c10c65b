"""Defect: a deleted session is still listed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-101"
LEVEL = "valid"


class Agent(RawAgent):
    def session_delete(self, id_: Any, params: Message) -> Message | None:
        self.text_of(params, "sessionId")
        return {}


if __name__ == "__main__":
    run(Agent())
