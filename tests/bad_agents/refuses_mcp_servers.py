"""Defect: a session with an MCP server over stdio is refused (B147)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, Refusal, run

FINDS = "R-085"
LEVEL = "valid"


class Agent(RawAgent):
    def session_new(self, id_: Any, params: Message) -> Message | None:
        if any("type" not in server for server in params.get("mcpServers") or ()):
            raise Refusal(-32602, "a server has a type")
        return super().session_new(id_, params)


if __name__ == "__main__":
    run(Agent())
