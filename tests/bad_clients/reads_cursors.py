"""Defect: a cursor is taken for a number and counted on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "list/pages": {"R-094"},
}


class Client(RawClient):
    def list_sessions(self) -> list[dict[str, Any]]:
        sessions: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        page = 1
        while True:
            result = self.call("session/list", params)
            sessions += result["sessions"]
            if not result.get("nextCursor"):
                return sessions
            page += 1
            params = {"cursor": str(page)}


if __name__ == "__main__":
    main(Client)
