"""Defect: an update of the tool call takes the question about it off the screen, and it is never answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B029",)
BREAKS = {
    "permission/update-in-the-same-write": {"R-016", "R-175"},
}


class Client(RawClient):
    asked: dict[str, Any] | None = None

    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if self.asked is not None:
            super().on_permission(message, params)
            return
        # The question is drawn first; what is in the pipe already is read before anybody can press a button.
        self.asked = message
        while self.asked is not None and super().pump(0.3):
            pass
        if self.asked is not None:
            self.asked = None
            super().on_permission(message, params)

    def on_update(self, update: dict[str, Any]) -> None:
        super().on_update(update)
        if self.asked is not None:
            call = self.asked["params"]["toolCall"]["toolCallId"]
            if update.get("toolCallId") == call and update.get("status") == "in_progress":
                self.asked = None


if __name__ == "__main__":
    main(Client)
