"""Defect: what is not found is told by an error without a message."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "fs/read-missing": {"R-256"},
    "fs/unknown-session": {"R-256"},
    "terminal/release": {"R-256"},
}


class Client(RawClient):
    def respond_error(self, message: dict[str, Any], code: int, text: str) -> None:
        if code == -32002:
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code}})
        else:
            super().respond_error(message, code, text)


if __name__ == "__main__":
    main(Client)
