"""Defect: a title that is cleared ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "info/title-set-and-cleared": {"R-303"},
    "forward/null-for-all-optional": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "session_info_update":
            self.title = update.get("title", "").strip()
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
