"""Defect: output that was cut is not marked as truncated."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

BREAKS = {
    "terminal/truncation": {"R-216"},
}


class Quiet(Terminal):
    def output(self) -> dict[str, Any]:
        return super().output() | {"truncated": False}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Quiet


if __name__ == "__main__":
    main(Client)
