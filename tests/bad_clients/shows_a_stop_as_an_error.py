"""Defect: a turn that the user has stopped is shown as an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

BREAKS = {
    "cancel/at-once": {"R-258"},
    "cancel/before-anything": {"R-258"},
    "cancel/five-stop-reasons": {"R-258"},
    "cancel/last-updates": {"R-258"},
    "cancel/while-a-tool-runs": {"R-258"},
    "cancel/while-talking": {"R-258"},
    "cancel/while-thinking": {"R-258"},
}


class Client(RawClient):
    def stop_reason(self, result: dict[str, Any]) -> str:
        reason = super().stop_reason(result)
        if reason == "cancelled":
            raise Failed(0, "the turn has failed")
        return reason


if __name__ == "__main__":
    main(Client)
