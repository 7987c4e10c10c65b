"""Defect: a prompt with a link to a resource is refused (B142)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Refusal, run

FINDS = "R-128"
LEVEL = "valid"


class Agent(RawAgent):
    def read_blocks(self, blocks: list[Message]) -> str:
        if any(block.get("type") == "resource_link" for block in blocks):
            raise Refusal(-32602, "links are not supported")
        return super().read_blocks(blocks)


if __name__ == "__main__":
    run(Agent())
