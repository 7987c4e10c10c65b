"""Defect: a cancelled turn first begins another tool (B117)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-155"
LEVEL = "valid"


class Agent(RawAgent):
    def __init__(self) -> None:
        super().__init__()
        self.late: list[RunningTurn] = []

    def stop(self, turn: RunningTurn) -> None:
        if turn not in self.late:
            turn.steps.close()
            turn.waiting = "nothing"
            self.late.append(turn)

    def handler(self, method: str, params: Any) -> Any:
        for turn in [turn for turn in self.late if turn in turn.session.turns]:
            self.late.remove(turn)
            id_ = turn.call = self.call_id(turn)
            self.out_later = id_
            self.after = turn
        return super().handler(method, params)

    def idle(self) -> None:
        turn, self.after = self.after, None
        if turn is not None:
            self.update(
                turn.session, "tool_call", toolCallId=turn.call, title="Go on", kind="think", status="pending"
            )
            super().stop(turn)

    after: RunningTurn | None = None


if __name__ == "__main__":
    run(Agent())
