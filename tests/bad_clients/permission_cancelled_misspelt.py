"""Defect: after a cancel, an open permission is answered with the outcome `canceled`, as it is spelt elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B014",)
BREAKS = {"permission/cancel-while-open": {"R-154", "R-177", "R-175"}}


class Client(RawClient):
    def answer_cancelled(self, message: dict[str, Any]) -> None:
        self.respond(message, {"outcome": {"outcome": "canceled"}})


if __name__ == "__main__":
    main(Client)
