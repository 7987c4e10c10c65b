"""Defect: a batch ends the agent."""

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
        message = super().parse(line)
        if isinstance(message, list):
            os._exit(1)
        return message


if __name__ == "__main__":
    run(Agent())
