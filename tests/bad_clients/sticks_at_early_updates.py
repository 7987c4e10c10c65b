"""Defect: an update for a session that is not there yet leaves the client in its start-up for ever."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B002",)
BREAKS = {
    "setup/commands-before-the-answer": {"R-304"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        super().handle_notification(message)
        if message["method"] == "session/update" and not self.session:
            self.answers.clear()
            self.handle_response = self.forget  # type: ignore[method-assign]

    def forget(self, message: dict[str, Any]) -> None:
        """The spinner goes on spinning."""


if __name__ == "__main__":
    main(Client)
