"""Defect: once commands have come before the first prompt, the prompt that was typed is never sent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B012",)
BREAKS = {
    "setup/commands-after-new": {"R-304"},
}


class Client(RawClient):
    commands_came = False

    def on_update(self, update: dict[str, Any]) -> None:
        self.commands_came |= update.get("sessionUpdate") == "available_commands_update"
        super().on_update(update)

    def prompt(self, text: str) -> None:
        self.pump(0.3)
        if self.turn or not self.commands_came:
            super().prompt(text)
            return
        while True:
            self.pump(0.3)


if __name__ == "__main__":
    main(Client)
