"""Defect: initialize fails for a version that the agent does not know."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Refusal, run

FINDS = "R-028"
LEVEL = "valid"


class Agent(RawAgent):
    def introduction(self, version: int) -> Message:
        if version != 1:
            raise Refusal(-32602, "unsupported protocol version")
        return super().introduction(version)


if __name__ == "__main__":
    run(Agent())
