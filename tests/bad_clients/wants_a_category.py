"""Defect: an option without a category, or with an unknown one, ends the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/odd-categories": {"R-118"},
}


class Client(RawClient):
    order = ("mode", "model", "model_config", "thought_level")

    def note_options(self, options: Any) -> None:
        super().note_options(options)
        sorted(self.options.values(), key=lambda option: self.order.index(option["category"]))


if __name__ == "__main__":
    main(Client)
