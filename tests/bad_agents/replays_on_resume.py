"""Defect: a resumed session is replayed (B151)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-067"
LEVEL = "valid"


class Agent(RawAgent):
    def session_resume(self, id_: Any, params: Message) -> Message | None:
        return self.session_load(id_, params)


if __name__ == "__main__":
    run(Agent())
