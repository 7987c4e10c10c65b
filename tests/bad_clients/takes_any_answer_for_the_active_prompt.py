"""Defect: an answer is taken for the one to the prompt that is active, whatever its id is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B016",)
BREAKS = {
    "cancel/ignored": {"R-305"},
    "misbehaviour/responses-to-nobody": {"R-304"},
}


class Client(RawClient):
    active: int | None = None

    def send_request(self, method: str, params: dict[str, Any]) -> int:
        id_ = super().send_request(method, params)
        self.active = id_ if method == "session/prompt" else None
        return id_

    def handle_response(self, message: dict[str, Any]) -> None:
        result = message.get("result")
        if self.active is not None and isinstance(result, dict) and "stopReason" in result:
            message = message | {"id": self.active}
        super().handle_response(message)


if __name__ == "__main__":
    main(Client)
