"""Defect: after three hundred updates in a turn no further one is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "stream/two-thousand-letters": {"R-308"},
    "stream/five-hundred-then-the-end": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if self.counts.get("update", 0) < 300:
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
