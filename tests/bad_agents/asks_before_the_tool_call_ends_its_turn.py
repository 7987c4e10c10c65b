"""Defect: the turn ends while a permission request is open (B119)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-134"
LEVEL = "valid"


class Agent(RawAgent):
    def use_tool_if_allowed(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        call = self.announce(turn, "Remove note.txt", "delete")
        yield
        options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
        tool_call = {"toolCallId": call, "title": "Remove note.txt"}
        self.ask("session/request_permission", sessionId=turn.session.id, toolCall=tool_call, options=options)
        self.end_turn(turn, "end_turn")


if __name__ == "__main__":
    run(Agent())
