"""Defect: a cancel leaves the permissions that are open without an answer."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/cancel-while-open": {"R-154", "R-177"},
    "permission/cancel-with-several-open": {"R-154", "R-177"},
}


class Client(RawClient):
    def cancel(self) -> None:
        self.cancelled = True
        self.turn_started = time.monotonic()
        self.notify("session/cancel", {"sessionId": self.session})
        self.show("cancelled")
        self.held.clear()


if __name__ == "__main__":
    main(Client)
