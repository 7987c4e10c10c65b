"""Defect: a tool call that has ended begins again."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-189"
LEVEL = "valid"


class Agent(RawAgent):
    def run_tool(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        call = turn.call
        yield from super().run_tool(turn)
        self.update(turn.session, "tool_call_update", toolCallId=call, status="in_progress")
        self.update(turn.session, "tool_call_update", toolCallId=call, status="completed")


if __name__ == "__main__":
    run(Agent())
