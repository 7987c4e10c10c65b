"""Defect: a nextCursor of null is a cursor as any other: the list is read in circles."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B039",)
BREAKS = {
    "list/null-cursor": {"R-093"},
}


class Client(RawClient):
    def list_sessions(self) -> list[dict[str, Any]]:
        sessions: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while len(sessions) < 100:
            result = self.call("session/list", params)
            sessions += result["sessions"]
            if "nextCursor" not in result:
                break
            params = {"cursor": result["nextCursor"] or ""}
        return sessions


if __name__ == "__main__":
    main(Client)
