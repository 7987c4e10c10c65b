"""Defect: an unknown method gets an internal error (B139)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import NOT_FOUND, RawAgent, run

FINDS = "R-252"
LEVEL = "valid"


class Agent(RawAgent):
    def error(self, id_: Any, code: int, message: str) -> None:
        super().error(id_, -32603 if code == NOT_FOUND else code, message)


if __name__ == "__main__":
    run(Agent())
