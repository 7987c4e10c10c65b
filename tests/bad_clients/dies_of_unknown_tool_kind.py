"""Defect: a tool call of a kind the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "tools/unknown-values": {"R-303"},
}


class Client(RawClient):
    kinds = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")

    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        self.kinds.index(update.get("kind") or "other")
        return super().merge_call(update)


if __name__ == "__main__":
    main(Client)
