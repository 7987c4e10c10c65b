"""Defect: the output of a command that has ended does not tell how."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

BREAKS = {
    "terminal/exit-code": {"R-311"},
}


class Short(Terminal):
    def output(self) -> dict[str, Any]:
        return {name: value for name, value in super().output().items() if name != "exitStatus"}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Short


if __name__ == "__main__":
    main(Client)
