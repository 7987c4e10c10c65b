"""Defect: a line of 64 KiB ends the agent (B137)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-312"
LEVEL = "valid"


class Agent(RawAgent):
    def line(self, line: bytes) -> None:
        if len(line) > 65_536:
            os._exit(1)
        super().line(line)


if __name__ == "__main__":
    run(Agent())
