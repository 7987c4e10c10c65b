"""Defect: a plan with a priority the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "plans/unknown-values": {"R-303"},
}


class Client(RawClient):
    def merge_plan(self, update: dict[str, Any]) -> list[dict[str, Any]]:
        entries = super().merge_plan(update)
        sorted(entries, key=lambda entry: ("high", "medium", "low").index(entry["priority"]))
        return entries


if __name__ == "__main__":
    main(Client)
