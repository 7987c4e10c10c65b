"""Defect: a mode counts as set only when an update says so; without one the client gives up."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B049",)
BREAKS = {
    "modes/set-without-notification": {"R-304"},
    "modes/set-answered-with-null": {"R-304"},
}


class Client(RawClient):
    mode_seen = False

    def set_mode(self, mode: str) -> None:
        self.mode_seen = False
        super().set_mode(mode)
        until = time.monotonic() + 1
        while not self.mode_seen:
            if time.monotonic() > until:
                raise ValueError("the mode was not set")
            self.pump(0.05)

    def on_update(self, update: dict[str, Any]) -> None:
        self.mode_seen = self.mode_seen or update.get("sessionUpdate") == "current_mode_update"
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
