"""Defect: the exit code of every command is 0."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

BREAKS = {
    "terminal/death-by-signal": {"R-311"},
    "terminal/exit-code": {"R-219", "R-311"},
    "terminal/kill": {"R-311"},
    "terminal/several-at-once": {"R-219"},
}


class Fine(Terminal):
    def exit_status(self) -> dict[str, Any]:
        return {"exitCode": 0, "signal": None}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Fine


if __name__ == "__main__":
    main(Client)
