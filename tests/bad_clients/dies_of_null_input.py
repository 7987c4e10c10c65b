"""Defect: a command whose input is null ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B039",)
BREAKS = {
    "forward/null-for-all-optional": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        for command in update.get("availableCommands") or ():
            command.get("input", {}).get("hint")
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
