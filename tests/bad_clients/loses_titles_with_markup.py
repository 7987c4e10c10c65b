"""Defect: a title with characters that mean something in markup is not shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "info/title-set-and-cleared": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if not (update.get("sessionUpdate") == "session_info_update" and "<" in str(update.get("title"))):
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
