"""Defect: initialize is answered with version 2, whatever was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-027"
LEVEL = "valid"


class Agent(RawAgent):
    def introduction(self, version: int) -> Message:
        return {**super().introduction(version), "protocolVersion": 2}


if __name__ == "__main__":
    run(Agent())
