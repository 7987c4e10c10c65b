"""Defect: session/cancel is sent as a request."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-154", "R-159", "R-250", "R-316"},
    "cancel/crosses-the-end": {"R-250"},
    "cancel/five-stop-reasons": {"R-250"},
    "cancel/slow-to-end": {"R-250", "R-316"},
    "misbehaviour/dies-after-cancel": {"R-250"},
}


class Client(RawClient):
    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.send_request(method, params)


if __name__ == "__main__":
    main(Client)
