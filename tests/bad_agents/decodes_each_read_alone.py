"""Defect: each read is decoded alone, and a character that is cut is lost (B066)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-320"
LEVEL = "valid"


class Agent(RawAgent):
    def take(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        super().take(text.replace("\ufffd", "\\").encode() if "\ufffd" in text else data)


if __name__ == "__main__":
    run(Agent())
