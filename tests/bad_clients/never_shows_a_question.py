"""Defect: a permission request is not shown, and not answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B032",)
BREAKS = {
    "*": {"R-016", "R-040", "R-167", "R-175", "R-178", "R-181", "R-182", "R-247", "R-303"},
    "permission/four-of-one-kind": {"R-175"},
    "permission/opaque-option-ids": {"R-175"},
    "permission/reject": {"R-175", "R-178"},
    "permission/reject-for-ever-only": {"R-178"},
}


class Client(RawClient):
    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.hold(message)


if __name__ == "__main__":
    main(Client)
