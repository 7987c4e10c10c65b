"""Defect: the content of an update is appended to what the tool call had."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "tools/content-replaced": {"R-187"},
}


class Client(RawClient):
    def merge_call(self, update: dict[str, Any]) -> dict[str, Any]:
        before = list(self.tool_calls.get(update["toolCallId"], {}).get("content") or ())
        call = super().merge_call(update)
        if update.get("content"):
            call["content"] = [*before, *update["content"]]
        return call


if __name__ == "__main__":
    main(Client)
