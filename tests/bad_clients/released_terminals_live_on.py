"""Defect: a terminal can be used after its release."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B061",)
BREAKS = {
    "terminal/release": {"R-222"},
}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.forget = lambda params: None  # type: ignore[method-assign]


if __name__ == "__main__":
    main(Client)
