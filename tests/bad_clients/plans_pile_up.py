"""Defect: entries of an earlier plan stay in the next one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "plans/replaced": {"R-200"},
}


class Client(RawClient):
    entries: ClassVar[list[dict[str, Any]]] = []

    def merge_plan(self, update: dict[str, Any]) -> list[dict[str, Any]]:
        contents = [entry.get("content") for entry in self.entries]
        for entry in update["entries"]:
            if isinstance(entry, dict) and entry.get("content") not in contents:
                self.entries.append(entry)
        return self.entries


if __name__ == "__main__":
    main(Client)
