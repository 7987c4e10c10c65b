"""Defect: a turn that ended by itself before the cancel arrived is shown as cancelled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "cancel/crosses-the-end": {"R-161"},
}


class Client(RawClient):
    def stop_reason(self, result: dict[str, Any]) -> str:
        reason = super().stop_reason(result)
        return "cancelled" if self.cancelled and reason == "end_turn" else reason


if __name__ == "__main__":
    main(Client)
