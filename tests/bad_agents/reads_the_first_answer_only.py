"""Defect: an answer with an unknown option leaves the turn waiting for ever."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-132"
LEVEL = "hostile"


class Agent(RawAgent):
    def response(self, message: Message) -> None:
        result = message.get("result")
        if isinstance(result, dict) and "never" not in str(result):
            super().response(message)


if __name__ == "__main__":
    run(Agent())
