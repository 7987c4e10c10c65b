"""Defect: setting an option is answered without the options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-124"
LEVEL = "valid"


class Agent(RawAgent):
    def set_option(self, id_: Any, params: Message) -> Message | None:
        super().set_option(id_, params)
        return {"configOptions": []}


if __name__ == "__main__":
    run(Agent())
