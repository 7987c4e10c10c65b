"""Defect: a session that was deleted before cannot be deleted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import NO_RESOURCE, Message, RawAgent, Refusal, run

FINDS = "R-102"
LEVEL = "valid"


class Agent(RawAgent):
    def session_delete(self, id_: Any, params: Message) -> Message | None:
        if params.get("sessionId") not in {**self.sessions, **self.stored}:
            raise Refusal(NO_RESOURCE, "no such session")
        return super().session_delete(id_, params)


if __name__ == "__main__":
    run(Agent())
