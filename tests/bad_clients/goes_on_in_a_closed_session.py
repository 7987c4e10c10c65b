"""Defect: after session/close the next prompt is sent in the session that was closed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "close/after-a-turn": {"R-074"},
    "close/in-a-turn": {"R-074"},
}


class Client(RawClient):
    closed = ""

    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/close":
            self.closed = params["sessionId"]
        elif method == "session/prompt" and self.closed:
            params = params | {"sessionId": self.closed}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
