"""Defect: a line that is no JSON ends the agent (B069)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-302"
LEVEL = "hostile"


class Agent(RawAgent):
    def parse(self, line: bytes) -> Any:
        try:
            return super().parse(line)
        except (ValueError, RecursionError):
            os._exit(1)


if __name__ == "__main__":
    run(Agent())
