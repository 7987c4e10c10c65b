"""Defect: a tool call that is announced again loses what it had."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B044",)
BREAKS = {
    "tools/announced-twice": {"R-308"},
}


class Client(RawClient):
    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        if update["sessionUpdate"] == "tool_call":
            self.tool_calls.pop(update["toolCallId"], None)
        return super().merge_call(update)


if __name__ == "__main__":
    main(Client)
