"""Defect: a notification of an unknown method is answered with an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B037",)
BREAKS = {
    "forward/unknown-notifications": {"R-015"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        if message["method"] not in {"session/update", "elicitation/complete", "$/cancel_request"}:
            error = {"code": -32601, "message": "Method not found"}
            self.send({"jsonrpc": "2.0", "id": None, "error": error})
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
