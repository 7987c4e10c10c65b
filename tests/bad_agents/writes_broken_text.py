"""Defect: text is cut inside a character, so that a line is not UTF-8 (B066)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, RunningTurn, run

FINDS = "R-001"
LEVEL = "valid"


class Agent(RawAgent):
    def say(self, turn: RunningTurn, text: str) -> None:
        cut = text.encode("utf-8", "replace")[:7].decode("utf-8", "surrogateescape")
        text = text if cut.isprintable() or len(text) < 7 else cut
        content = {"type": "text", "text": text}
        params = {
            "sessionId": turn.session.id,
            "update": {"sessionUpdate": "agent_message_chunk", "content": content},
        }
        line = json.dumps(
            {"jsonrpc": "2.0", "method": "session/update", "params": params}, ensure_ascii=False
        )
        self.write(line.encode("utf-8", "surrogateescape") + b"\n")


if __name__ == "__main__":
    run(Agent())
