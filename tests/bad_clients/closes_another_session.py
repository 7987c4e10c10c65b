"""Defect: session/close names another session than the one to be closed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "close/after-a-turn": {"R-074"},
    "close/already-gone": {"R-074"},
    "close/in-a-turn": {"R-074"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/close":
            params = {"sessionId": f"{params['sessionId']}-2"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
