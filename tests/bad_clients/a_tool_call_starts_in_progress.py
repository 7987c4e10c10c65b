"""Defect: a tool call without a status is shown as in progress."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "tools/bare": {"R-185"},
}


class Client(RawClient):
    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        return {"status": "in_progress"} | super().merge_call(update)


if __name__ == "__main__":
    main(Client)
