"""Defect: a line of its log stands between its messages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-006"},
    "cancel/slow-to-end": {"R-006"},
    "misbehaviour/dies-after-cancel": {"R-006"},
    "misbehaviour/error-instead-of-cancelled": {"R-006"},
}


class Client(RawClient):
    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.write(b"INFO cancelling ...\n")
        super().notify(method, params)


if __name__ == "__main__":
    main(Client)
