"""Defect: an update to a mode that is not on offer ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "modes/changed-by-the-agent": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "current_mode_update" and self.modes:
            {mode: mode for mode in self.modes}[update["currentModeId"]]
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
