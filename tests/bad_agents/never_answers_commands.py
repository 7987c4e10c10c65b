"""Defect: a command that is handled on the spot leaves the prompt without an answer (B124)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, Turn, run

FINDS = "R-132"
LEVEL = "valid"


class Agent(RawAgent):
    def work(self, turn: RunningTurn, text: str) -> Turn:
        yield
        if text.strip() == "plan":
            yield "nothing"
        return (yield from super().work(turn, text))


if __name__ == "__main__":
    run(Agent())
