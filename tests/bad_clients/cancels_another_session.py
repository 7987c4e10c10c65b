"""Defect: the cancel names the session that was opened first, not the one the turn is in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-074", "R-154", "R-159", "R-316"},
    "cancel/before-anything": {"R-074"},
    "cancel/while-a-tool-runs": {"R-074"},
    "cancel/while-talking": {"R-074"},
    "cancel/while-thinking": {"R-074"},
}


class Client(RawClient):
    def notify(self, method: str, params: dict[str, Any]) -> None:
        super().notify(method, params | {"sessionId": f"{self.session}-old"})


if __name__ == "__main__":
    main(Client)
