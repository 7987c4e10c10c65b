"""Defect: thoughts are shown as a part of the message."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "stream/thoughts-between": {"R-308"},
    "stream/empty-chunks": {"R-308"},
    "messages/with-ids": {"R-308"},
    "forward/every-update-then-an-unknown-one": {"R-308"},
    "forward/unknown-members": {"R-308"},
    "forward/meta-of-others": {"R-308"},
    "forward/null-for-all-optional": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "agent_thought_chunk":
            update = update | {"sessionUpdate": "agent_message_chunk"}
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
