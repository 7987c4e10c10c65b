"""Defect: a loaded session is replayed after the answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-135"
LEVEL = "valid"


class Agent(RawAgent):
    def session_load(self, id_: Any, params: Message) -> Message | None:
        session = self.reopen(params)
        first, *rest = session.history or [None]
        if first is not None:
            self.send({"method": "session/update", "params": {"sessionId": session.id, "update": first}})
        self.result(id_, self.offers(session))
        for update in rest:
            self.send({"method": "session/update", "params": {"sessionId": session.id, "update": update}})
        return None


if __name__ == "__main__":
    run(Agent())
