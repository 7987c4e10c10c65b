"""Defect: a turn is put down as completed, however it has ended."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B021",)
BREAKS = {
    "cancel/five-stop-reasons": {"R-138", "R-258"},
}


class Client(RawClient):
    def stop_reason(self, result: dict[str, Any]) -> str:
        super().stop_reason(result)
        return "end_turn"


if __name__ == "__main__":
    main(Client)
