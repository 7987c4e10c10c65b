"""Defect: terminals run nothing: every command has ended with 0 and has no output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

FIELD_FAULTS = ("B057",)
BREAKS = {
    "*": {"R-216", "R-218", "R-219", "R-220", "R-310", "R-311"},
    "terminal/cannot-start": {"R-311"},
    "terminal/death-by-signal": {"R-311"},
    "terminal/not-truncated": {"R-216"},
    "terminal/word-for-word": {"R-310"},
}


class Stub(Terminal):
    def __init__(self, params: dict[str, Any], cwd: str) -> None:
        super().__init__({"command": "/bin/sh", "args": ["-c", ":"]}, cwd)


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Stub


if __name__ == "__main__":
    main(Client)
