"""Defect: an answer to a request that was never made ends the agent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-317"
LEVEL = "hostile"


class Agent(RawAgent):
    def response(self, message: Message) -> None:
        if message["id"] not in range(1, self.next_id + 1):
            os._exit(1)
        super().response(message)


if __name__ == "__main__":
    run(Agent())
