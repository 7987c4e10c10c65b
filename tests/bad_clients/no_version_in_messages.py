"""Defect: results lack the member jsonrpc."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-013"},
    "permission/four-of-one-kind": {"R-013"},
    "permission/never-announced": {"R-013"},
    "permission/reject": {"R-013"},
    "terminal/word-for-word": {"R-013"},
}


class Client(RawClient):
    def send(self, message: dict[str, Any]) -> None:
        if "result" in message:
            message = {name: value for name, value in message.items() if name != "jsonrpc"}
        super().send(message)


if __name__ == "__main__":
    main(Client)
