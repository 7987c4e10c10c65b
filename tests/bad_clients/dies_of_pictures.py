"""Defect: a chunk that is no text ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "stream/content-that-is-no-text": {"R-303"},
    "forward/unknown-content": {"R-303"},
    "forward/unknown-members": {"R-303"},
    "forward/meta-of-others": {"R-247"},
    "forward/null-for-all-optional": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "agent_message_chunk":
            len(update["content"]["text"])
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
