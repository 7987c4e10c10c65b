"""Defect: a line separator of Unicode in a prompt ends the agent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-317"
LEVEL = "valid"


class Agent(RawAgent):
    def read_blocks(self, blocks: list[Message]) -> str:
        text = super().read_blocks(blocks)
        if len(text.splitlines()) > text.count("\n") + 1:
            os._exit(1)
        return text


if __name__ == "__main__":
    run(Agent())
