"""Defect: session/load is sent without mcpServers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-061"},
    "load/refused-with-32602": {"R-061"},
    "setup/load-answered-empty": {"R-061"},
    "setup/load-answered-null": {"R-061"},
    "setup/load-answered-with-nulls": {"R-061"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/load":
            params = {name: value for name, value in params.items() if name != "mcpServers"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
