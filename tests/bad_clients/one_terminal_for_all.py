"""Defect: every terminal has the same id."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "terminal/several-at-once": {"R-215", "R-218", "R-219"},
}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        create = self.terminals.create

        def create_one(params: dict[str, Any]) -> dict[str, Any]:
            self.terminals._count = 0
            return create(params)

        self.terminals.create = create_one  # type: ignore[method-assign]


if __name__ == "__main__":
    main(Client)
