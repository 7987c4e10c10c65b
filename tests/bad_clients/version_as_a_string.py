"""Defect: the protocol version is a date in a string."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-023"},
    "handshake/first-turn": {"R-023"},
    "misbehaviour/dies-in-a-line": {"R-023"},
    "misbehaviour/null-result": {"R-023"},
    "setup/plain-conversation": {"R-023"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "initialize":
            params = params | {"protocolVersion": "2025-01-01"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
