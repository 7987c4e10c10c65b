"""Defect: command and arguments are joined by blanks and given to a shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

BREAKS = {
    "terminal/after-the-turn": {"R-218"},
    "terminal/kill": {"R-220"},
    "terminal/not-truncated": {"R-216"},
    "terminal/several-at-once": {"R-218"},
    "terminal/truncation": {"R-216"},
    "terminal/while-it-runs": {"R-218"},
    "terminal/word-for-word": {"R-310"},
}


class Joined(Terminal):
    def __init__(self, params: dict[str, Any], cwd: str) -> None:
        line = " ".join([params["command"], *(params.get("args") or ())])
        super().__init__(params | {"command": "/bin/sh", "args": ["-c", line.replace("\0", "")]}, cwd)


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Joined


if __name__ == "__main__":
    main(Client)
