"""Defect: fs/write_text_file is answered with success, and nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

FIELD_FAULTS = ("B054",)
BREAKS = {
    "fs/write-new": {"R-211"},
    "fs/write-over": {"R-211"},
    "fs/write-then-read": {"R-209"},
}


class Stub(Files):
    def write(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Stub(cwd)


if __name__ == "__main__":
    main(Client)
