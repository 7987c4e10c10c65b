"""Defect: a file that is written over keeps the end of its old content."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

BREAKS = {
    "fs/write-over": {"R-211"},
    "fs/write-then-read": {"R-209"},
}


class Overlay(Files):
    def write(self, params: dict[str, Any]) -> dict[str, Any]:
        path = Path(params["path"])
        old = path.read_bytes() if path.is_file() else b""
        answer = super().write(params)
        new = path.read_bytes()
        path.write_bytes(new + old[len(new) :])
        return answer


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Overlay(cwd)


if __name__ == "__main__":
    main(Client)
