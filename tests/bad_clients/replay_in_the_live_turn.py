"""Defect: the history of a loaded session is shown as part of the first turn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "load/long-history": {"R-308"},
    "load/replay": {"R-308"},
    "load/two-sessions": {"R-308"},
}


class Client(RawClient):
    replayed = ""

    def on_update(self, update: dict[str, Any]) -> None:
        content = update.get("content")
        if self.replaying and update.get("sessionUpdate") == "agent_message_chunk":
            self.replayed += content["text"] if isinstance(content, dict) else ""
        super().on_update(update)

    def stop_reason(self, result: dict[str, Any]) -> str:
        if self.replayed:
            self.texts.insert(0, self.replayed)
            self.replayed = ""
        return super().stop_reason(result)


if __name__ == "__main__":
    main(Client)
