"""Defect: a loaded session is not replayed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-062"
LEVEL = "valid"


class Agent(RawAgent):
    def session_load(self, id_: Any, params: Message) -> Message | None:
        return self.offers(self.reopen(params))


if __name__ == "__main__":
    run(Agent())
