"""Defect: results are sent in Latin-1."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/form-accepted": {"R-001", "R-236"},
    "fs/read": {"R-001", "R-209"},
    "permission/default-policy": {"R-175"},
    "permission/opaque-option-ids": {"R-175"},
    "terminal/not-truncated": {"R-216"},
    "terminal/truncation": {"R-001", "R-216"},
}


class Client(RawClient):
    def send(self, message: dict[str, Any]) -> None:
        line = orjson.dumps(message)
        if "result" in message:
            line = line.decode().encode("latin-1", "replace")
        self.write(line + b"\n")


if __name__ == "__main__":
    main(Client)
