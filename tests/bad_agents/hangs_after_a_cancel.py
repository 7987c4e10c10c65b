"""Defect: after a cancelled turn the session's next prompt is never answered (B119)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-132"
LEVEL = "valid"


class Agent(RawAgent):
    def __init__(self) -> None:
        super().__init__()
        self.stuck: set[str] = set()

    def stop(self, turn: RunningTurn) -> None:
        self.stuck.add(turn.session.id)
        super().stop(turn)

    def can_go_on(self, turn: RunningTurn) -> bool:
        return turn.session.id not in self.stuck and super().can_go_on(turn)


if __name__ == "__main__":
    run(Agent())
