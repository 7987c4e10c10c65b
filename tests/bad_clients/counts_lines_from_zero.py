"""Defect: lines of files are counted from 0."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

BREAKS = {
    "fs/read-lines": {"R-209"},
}


class FromZero(Files):
    def read(self, params: dict[str, Any]) -> dict[str, Any]:
        line = params.get("line")
        return super().read(params if line is None else params | {"line": line + 1})


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = FromZero(cwd)


if __name__ == "__main__":
    main(Client)
