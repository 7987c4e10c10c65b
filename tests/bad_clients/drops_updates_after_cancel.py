"""Defect: what comes between the cancel and the end of the turn is thrown away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B022",)
BREAKS = {
    "cancel/last-updates": {"R-308"},
    "cancel/many-updates-after": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if not (self.turn_open and self.cancelled):
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
