"""Defect: session/close is advertised and unknown (B141)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-319"
LEVEL = "valid"


class Agent(RawAgent):
    def handlers(self) -> dict[str, Any]:
        handlers = super().handlers()
        del handlers["session/close"]
        return handlers


if __name__ == "__main__":
    run(Agent())
