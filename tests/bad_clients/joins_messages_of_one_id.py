"""Defect: a chunk without a message id is dropped when others of the turn have had one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "messages/with-ids": {"R-308"},
}


class Client(RawClient):
    with_ids = False

    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "agent_message_chunk":
            if update.get("messageId") is None and self.with_ids:
                return
            self.with_ids = update.get("messageId") is not None
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
