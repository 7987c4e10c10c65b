"""Defect: after a burst nothing is read until the client has something to write."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B081",)
BREAKS = {
    "process/stall-then-a-small-line": {"R-301", "R-304", "R-308"},
}


class Client(RawClient):
    burst = 0
    stalled = False

    def pump(self, within_s: float) -> bool:
        if self.stalled:
            time.sleep(within_s)
            return False
        return super().pump(within_s)

    def on_update(self, update: dict[str, Any]) -> None:
        super().on_update(update)
        content = update.get("content")
        text = content.get("text") if isinstance(content, dict) else None
        self.burst += len(text) if isinstance(text, str) else 0
        self.stalled = self.burst > 4 * 1024 * 1024 and self.inbox.empty()

    def write(self, data: bytes) -> None:
        self.burst, self.stalled = 0, False
        super().write(data)


if __name__ == "__main__":
    main(Client)
