"""Defect: a cursor that was never given gets the first page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-095"
LEVEL = "hostile"


class Agent(RawAgent):
    def session_list(self, id_: Any, params: Message) -> Message | None:
        return super().session_list(id_, {**params, "cursor": None})


if __name__ == "__main__":
    run(Agent())
