"""Defect: a login in a terminal is offered to a client that has none."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-048"
LEVEL = "valid"


class Agent(RawAgent):
    def introduction(self, version: int) -> Message:
        methods = [{"id": "login", "name": "Log in", "type": "terminal", "args": ["login"], "env": {}}]
        return {**super().introduction(version), "authMethods": methods}


if __name__ == "__main__":
    run(Agent())
