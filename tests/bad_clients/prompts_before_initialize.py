"""Defect: session/new is sent before initialize."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-022"},
    "auth/no-methods-and-refused": {"R-022"},
    "handshake/first-turn": {"R-022"},
    "load/refused-with-32002": {"R-022"},
    "setup/plain-conversation": {"R-022"},
}


class Client(RawClient):
    def run(self) -> None:
        self.send_request("session/new", {"cwd": self.cwd, "mcpServers": []})
        super().run()


if __name__ == "__main__":
    main(Client)
