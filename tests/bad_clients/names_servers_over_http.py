"""Defect: a server over http is named to an agent that has not advertised the kind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-086"},
    "setup/plain-conversation": {"R-086"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/new":
            server = {"type": "http", "name": "tools", "url": "http://localhost:1/mcp", "headers": []}
            params = params | {"mcpServers": [server]}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
