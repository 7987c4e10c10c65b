"""Defect: an update of a tool call that was not announced ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "tools/never-announced": {"R-303"},
    "permission/never-announced": {"R-182"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "tool_call_update" and update["toolCallId"] not in self.tool_calls:
            raise KeyError(update["toolCallId"])
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
