"""Defect: a block of a kind the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/unknown-content": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "agent_message_chunk":
            kinds = ("text", "image", "audio", "resource_link", "resource")
            kinds.index(update["content"]["type"])
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
