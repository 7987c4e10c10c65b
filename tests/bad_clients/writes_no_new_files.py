"""Defect: only files that exist are written; a new one is an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

BREAKS = {
    "fs/write-new": {"R-211", "R-212"},
    "fs/write-then-read": {"R-209", "R-212"},
}


class Careful(Files):
    def write(self, params: dict[str, Any]) -> dict[str, Any]:
        self.read({"path": params["path"]})
        return super().write(params)


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Careful(cwd)


if __name__ == "__main__":
    main(Client)
