"""Defect: a file that was read once is served from memory, though it has changed on the disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

FIELD_FAULTS = ("B051",)
BREAKS = {
    "fs/read-again-after-a-change": {"R-209"},
}


class Buffers(Files):
    def read(self, params: dict[str, Any]) -> dict[str, Any]:
        answer = super().read(params)
        if params.get("line") is None and params.get("limit") is None:
            self.unsaved.setdefault(params["path"], answer["content"])
        return answer


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Buffers(cwd)


if __name__ == "__main__":
    main(Client)
