"""Defect: a request of id 0 is taken for a notification (B072)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-016"
LEVEL = "valid"


class Agent(RawAgent):
    def request(self, id_: Any, method: str, params: Any) -> None:
        if id_ == 0:
            self.initialised = method == "initialize"
        else:
            super().request(id_, method, params)


if __name__ == "__main__":
    run(Agent())
