"""Defect: the mark of a cancel is left behind and ends the next turn (B116)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, Session, run

FINDS = "R-139"
LEVEL = "valid"


class Agent(RawAgent):
    def __init__(self) -> None:
        super().__init__()
        self.marked: set[str] = set()

    def cancel(self, session: Session) -> None:
        self.marked.add(session.id)
        super().cancel(session)

    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        if turn.session.id in self.marked and reason == "end_turn":
            self.marked.remove(turn.session.id)
            reason = "cancelled"
        super().end_turn(turn, reason)


if __name__ == "__main__":
    run(Agent())
