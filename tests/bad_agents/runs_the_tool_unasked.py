"""Defect: the tool starts while its permission is being asked for (B102)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, run

FINDS = "R-180"
LEVEL = "valid"


class Agent(RawAgent):
    def ask(self, method: str, **params: Any) -> int:
        id_ = super().ask(method, **params)
        if method == "session/request_permission":
            session = self.sessions[params["sessionId"]]
            self.update(
                session, "tool_call_update", toolCallId=params["toolCall"]["toolCallId"], status="in_progress"
            )
        return id_


if __name__ == "__main__":
    run(Agent())
