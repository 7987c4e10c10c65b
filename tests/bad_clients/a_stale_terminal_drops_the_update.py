"""Defect: an update that names an unknown terminal is dropped as a whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, Refusal, main

FIELD_FAULTS = ("B047",)
BREAKS = {
    "tools/stale-terminal": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        try:
            for block in update.get("content") or ():
                if "terminalId" in block:
                    self.terminals.find(block)
        except Refusal:
            return
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
