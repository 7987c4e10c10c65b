"""Defect: a success has a member error that is null."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-014"
LEVEL = "valid"


class Agent(RawAgent):
    def result(self, id_: Any, result: Any) -> None:
        self.send({"id": id_, "result": result, "error": None})


if __name__ == "__main__":
    run(Agent())
