"""Defect: answers have no member jsonrpc."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-013"
LEVEL = "valid"


class Agent(RawAgent):
    def result(self, id_: Any, result: Any) -> None:
        self.write(json.dumps({"id": id_, "result": result}).encode() + b"\n")


if __name__ == "__main__":
    run(Agent())
