"""Defect: a permission request for a tool call that was never announced is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "framing/escapes": {"R-040", "R-175"},
    "framing/orders-and-spaces": {"R-040", "R-175"},
    "permission/never-announced": {"R-175", "R-182"},
}


class Client(RawClient):
    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if params["toolCall"]["toolCallId"] in self.tool_calls:
            super().on_permission(message, params)
        else:
            self.respond_error(message, -32602, "Invalid params: unknown tool call")


if __name__ == "__main__":
    main(Client)
