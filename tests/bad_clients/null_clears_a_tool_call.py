"""Defect: null in an update of a tool call clears what was there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "tools/only-an-id": {"R-308"},
}


class Client(RawClient):
    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        call = super().merge_call(update)
        call.update({name: None for name, value in update.items() if value is None})
        return call


if __name__ == "__main__":
    main(Client)
