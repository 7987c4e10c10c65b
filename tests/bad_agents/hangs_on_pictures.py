"""Defect: pictures are advertised, and a prompt with one is never answered (B142)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, RunningTurn, Turn, run

FINDS = "R-132"
LEVEL = "valid"


class Agent(RawAgent):
    def read_blocks(self, blocks: list[Message]) -> str:
        text = super().read_blocks(blocks)
        return "a picture" if any(block.get("type") == "image" for block in blocks) else text

    def work(self, turn: RunningTurn, text: str) -> Turn:
        if text == "a picture":
            yield "nothing"
        return (yield from super().work(turn, text))


if __name__ == "__main__":
    run(Agent())
