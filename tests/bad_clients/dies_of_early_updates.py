"""Defect: an update for a session whose id is not known yet ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B001",)
BREAKS = {
    "setup/commands-before-the-answer": {"R-304"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        if message["method"] == "session/update" and not self.session:
            raise KeyError(message["params"]["sessionId"])
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
