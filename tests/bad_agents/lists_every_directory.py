"""Defect: a list for one directory holds the sessions of others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-091"
LEVEL = "valid"


class Agent(RawAgent):
    def session_list(self, id_: Any, params: Message) -> Message | None:
        return {"sessions": [{"sessionId": "elsewhere", "cwd": "/elsewhere"}]}


if __name__ == "__main__":
    run(Agent())
