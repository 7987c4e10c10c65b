"""Defect: the variables that a command should have are not set."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "terminal/word-for-word": {"R-310"},
}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        create = self.terminals.create
        self.terminals.create = lambda params: create(params | {"env": []})  # type: ignore[method-assign]


if __name__ == "__main__":
    main(Client)
