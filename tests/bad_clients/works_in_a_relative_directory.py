"""Defect: the directory of a session is relative."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B079",)
BREAKS = {
    "*": {"R-075"},
    "setup/plain-conversation": {"R-075"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        return super().send_request(method, params | ({"cwd": "."} if "cwd" in params else {}))


if __name__ == "__main__":
    main(Client)
