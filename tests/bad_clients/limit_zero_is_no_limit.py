"""Defect: an output limit of 0 is taken for none."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B059",)
BREAKS = {
    "terminal/truncation": {"R-216"},
}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        create = self.terminals.create
        self.terminals.create = lambda params: create(  # type: ignore[method-assign]
            params | {"outputByteLimit": params.get("outputByteLimit") or None}
        )


if __name__ == "__main__":
    main(Client)
