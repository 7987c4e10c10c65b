"""Defect: of a command that a signal has ended, neither code nor signal is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

BREAKS = {
    "terminal/death-by-signal": {"R-311"},
}


class Silent(Terminal):
    def exit_status(self) -> dict[str, Any]:
        status = super().exit_status()
        return {"exitCode": status["exitCode"], "signal": None}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Silent


if __name__ == "__main__":
    main(Client)
