"""Defect: the id of an answer is a text where the request had a number."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-016"
LEVEL = "valid"


class Agent(RawAgent):
    def result(self, id_: Any, result: Any) -> None:
        super().result(str(id_) if isinstance(id_, int) and id_ > 1 else id_, result)


if __name__ == "__main__":
    run(Agent())
