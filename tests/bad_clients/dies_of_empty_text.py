"""Defect: a chunk without text ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B046",)
BREAKS = {
    "stream/empty-chunks": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if str(update.get("sessionUpdate")).endswith("_chunk") and update["content"].get("text") == "":
            raise IndexError("the text is empty")
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
