"""Defect: commands are kept for the first session only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B009",)
BREAKS = {
    "setup/two-sessions": {"R-308"},
}


class Client(RawClient):
    first = ""

    def on_update(self, update: dict[str, Any]) -> None:
        self.first = self.first or self.session
        if update.get("sessionUpdate") != "available_commands_update" or self.session == self.first:
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
