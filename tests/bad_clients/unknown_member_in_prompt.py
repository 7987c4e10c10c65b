"""Defect: a member of its own beside the specified ones of every prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "setup/plain-conversation": {"R-249"},
    "*": {"R-249"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/prompt":
            params = params | {"traceId": "1"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
