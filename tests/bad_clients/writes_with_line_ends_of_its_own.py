"""Defect: files are written with the line ends that the client likes, and end with one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

BREAKS = {
    "fs/write-new": {"R-211"},
    "fs/write-over": {"R-211"},
}


class Tidy(Files):
    def write(self, params: dict[str, Any]) -> dict[str, Any]:
        text = params["content"].replace("\r\n", "\n")
        if text and not text.endswith("\n"):
            text += "\n"
        return super().write(params | {"content": text})


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Tidy(cwd)


if __name__ == "__main__":
    main(Client)
