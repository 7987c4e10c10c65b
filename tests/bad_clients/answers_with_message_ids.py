"""Defect: a prompt that follows messages with ids carries an id of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "messages/with-ids": {"R-143", "R-249"},
}


class Client(RawClient):
    last_id = None

    def on_update(self, update: dict[str, Any]) -> None:
        self.last_id = update.get("messageId") or self.last_id
        super().on_update(update)

    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/prompt" and self.last_id:
            params = params | {"messageId": f"{self.last_id}-answer"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
