"""Defect: updates that come while no turn runs are thrown away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B007",)
BREAKS = {
    "stream/updates-while-idle": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if self.turn_open or self.replaying:
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
