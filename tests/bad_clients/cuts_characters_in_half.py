"""Defect: output is cut at a byte, in the middle of a character if need be."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

FIELD_FAULTS = ("B059",)
BREAKS = {
    "terminal/truncation": {"R-216"},
}


class Cut(Terminal):
    def end_of(self, data: bytes, limit: int) -> bytes:
        return data[len(data) - limit :]


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Cut


if __name__ == "__main__":
    main(Client)
