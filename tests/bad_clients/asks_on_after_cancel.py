"""Defect: a permission request that comes after the cancel is answered as if nothing had been cancelled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "cancel/crosses-a-permission": {"R-154", "R-177"},
    "permission/asked-after-cancel": {"R-154", "R-177"},
}


class Client(RawClient):
    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        cancelled, self.cancelled = self.cancelled, False
        try:
            super().on_permission(message, params)
        finally:
            self.cancelled = self.cancelled or cancelled


if __name__ == "__main__":
    main(Client)
