"""Defect: a cancel is answered, with an id of null."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-015"
LEVEL = "valid"


class Agent(RawAgent):
    def notification(self, method: str, params: Any) -> None:
        super().notification(method, params)
        self.result(None, None)


if __name__ == "__main__":
    run(Agent())
