"""Defect: a message is written with its line ends, over several lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import Message, RawAgent, run

FINDS = "R-004"
LEVEL = "valid"


class Agent(RawAgent):
    def send(self, message: Message) -> None:
        if message.get("params", {}).get("update", {}).get("sessionUpdate") == "plan":
            self.write(json.dumps({"jsonrpc": "2.0", **message}, indent=1).encode() + b"\n")
        else:
            super().send(message)


if __name__ == "__main__":
    run(Agent())
