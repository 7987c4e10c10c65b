"""Defect: after a cancel, an open permission is answered with the outcome `canceled`, as it is spelt elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B014",)
BREAKS = {
    "cancel/crosses-a-permission": {"R-154", "R-175", "R-177"},
    "permission/asked-after-cancel": {"R-154", "R-175", "R-177"},
    "permission/cancel-while-open": {"R-154", "R-175", "R-177"},
    "permission/cancel-with-several-open": {"R-154", "R-175", "R-177"},
    "permission/read-while-open": {"R-175"},
    "permission/turn-ends-while-open": {"R-175"},
    "permission/update-while-open": {"R-175"},
    "permission/withdrawn": {"R-170", "R-175"},
    "permission/withdrawn-at-the-end": {"R-175"},
}


class Client(RawClient):
    def answer_cancelled(self, message: dict[str, Any]) -> None:
        self.respond(message, {"outcome": {"outcome": "canceled"}})


if __name__ == "__main__":
    main(Client)
