"""Defect: a file that does not exist is read as an empty one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files, Refusal

FIELD_FAULTS = ("B052",)
BREAKS = {
    "fs/read-missing": {"R-210"},
}


class Lenient(Files):
    def read(self, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return super().read(params)
        except Refusal as error:
            if error.code != -32002:
                raise
            return {"content": ""}


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Lenient(cwd)


if __name__ == "__main__":
    main(Client)
