"""Defect: a method whose slash is escaped is unknown (B042)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-039"
LEVEL = "valid"


class Agent(RawAgent):
    def line(self, line: bytes) -> None:
        super().line(line.replace(b"session\\/", b"session\\\\/"))


if __name__ == "__main__":
    run(Agent())
