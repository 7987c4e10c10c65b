"""Defect: elicitation/complete is answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/completed": {"R-015", "R-243"},
    "elicitation/completion-of-nothing": {"R-015"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        if message["method"] == "elicitation/complete":
            self.send(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
            )
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
