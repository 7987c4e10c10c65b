"""Defect: files are asked of a client that does not offer them (B143)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-207"
LEVEL = "valid"


class Agent(RawAgent):
    def may(self, *path: str) -> bool:
        return path[0] == "fs" or super().may(*path)


if __name__ == "__main__":
    run(Agent())
