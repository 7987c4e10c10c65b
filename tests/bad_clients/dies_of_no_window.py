"""Defect: usage of a window of no size ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "usage/all-forms": {"R-303"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update.get("sessionUpdate") == "usage_update":
            self.share = update["used"] / update["size"]
        super().on_update(update)


if __name__ == "__main__":
    main(Client)
