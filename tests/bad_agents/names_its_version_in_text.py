"""Defect: the answer to initialize has the version as a text (B111)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-025"
LEVEL = "valid"


class Agent(RawAgent):
    def introduction(self, version: int) -> Message:
        return {**super().introduction(version), "protocolVersion": "1"}


if __name__ == "__main__":
    run(Agent())
