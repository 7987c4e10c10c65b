"""Defect: a session in a relative directory is opened (B156)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-020"
LEVEL = "hostile"


class Agent(RawAgent):
    def directory(self, params: Message) -> str:
        return self.text_of(params, "cwd")


if __name__ == "__main__":
    run(Agent())
