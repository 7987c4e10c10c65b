"""Defect: a request whose params are no object is never answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-016"
LEVEL = "hostile"


class Agent(RawAgent):
    def request(self, id_: Any, method: str, params: Any) -> None:
        if params is None or isinstance(params, dict):
            super().request(id_, method, params)


if __name__ == "__main__":
    run(Agent())
