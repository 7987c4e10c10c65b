"""Defect: session/new is sent without mcpServers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-058"},
    "auth/no-methods-and-refused": {"R-058"},
    "auth/terminal-method-beside-another": {"R-058"},
    "handshake/first-turn": {"R-058"},
    "setup/plain-conversation": {"R-058"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/new":
            params = {"cwd": params["cwd"]}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
