"""Defect: an update with a member the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/unknown-members": {"R-303"},
}
KNOWN = {"sessionUpdate", "content", "messageId", "_meta"}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "agent_message_chunk" and not update.keys() <= KNOWN:
            raise ValueError(f"unknown field {(update.keys() - KNOWN).pop()}")
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
