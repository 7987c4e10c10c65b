"""Defect: an update of a tool call whose status is null ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B039",)
BREAKS = {
    "tools/only-an-id": {"R-303"},
    "forward/null-for-all-optional": {"R-303"},
}


class Client(RawClient):
    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        if "status" in update:
            update["status"].upper()
        return super().merge_call(update)


if __name__ == "__main__":
    main(Client)
