"""Defect: a permission request without a title is refused, though the tool call is known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-040", "R-154", "R-175", "R-177", "R-178", "R-247", "R-303"},
    "ids/equal-to-the-clients": {"R-175"},
    "permission/reject": {"R-175", "R-178"},
    "permission/three-at-once": {"R-175"},
    "permission/update-in-the-same-write": {"R-175"},
}


class Client(RawClient):
    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if params["toolCall"].get("title") is None and params["toolCall"]["toolCallId"] in self.tool_calls:
            self.respond_error(message, -32602, "Invalid params: toolCall.title is missing")
        else:
            super().on_permission(message, params)


if __name__ == "__main__":
    main(Client)
