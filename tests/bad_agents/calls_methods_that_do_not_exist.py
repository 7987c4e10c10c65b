"""Defect: a request of the agent's own has a name of the protocol's space."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-250"
LEVEL = "valid"


class Agent(RawAgent):
    def use_tool(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        yield self.ask("fs/list_directory", sessionId=turn.session.id, path=turn.session.cwd)
        yield from super().use_tool(turn)


if __name__ == "__main__":
    run(Agent())
