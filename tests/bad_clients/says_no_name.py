"""Defect: the client does not say what it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "setup/plain-conversation": {"R-024"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        return super().send_request(
            method, {name: value for name, value in params.items() if name != "clientInfo"}
        )


if __name__ == "__main__":
    main(Client)
