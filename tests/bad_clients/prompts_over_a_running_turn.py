"""Defect: Stop only puts the text aside: the next prompt is sent while the turn runs, and no cancel."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

FIELD_FAULTS = ("B017",)
BREAKS = {
    "*": {"R-130", "R-154", "R-159", "R-308", "R-316"},
    "cancel/crosses-a-permission": {"R-154"},
    "permission/allow-then-cancel": {"R-159"},
    "permission/asked-after-cancel": {"R-154"},
    "permission/cancel-while-open": {"R-154"},
}


class Client(RawClient):
    def cancel(self) -> None:
        self.cancelled = True
        self.show("cancelled")
        raise Failed(0, "stopped")


if __name__ == "__main__":
    main(Client)
