"""Defect: a release only forgets the terminal; its command runs on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B062",)
BREAKS = {
    "terminal/release": {"R-222"},
    "terminal/released-while-waiting": {"R-219"},
}


class Client(RawClient):
    def on_release(self, params: dict[str, Any]) -> dict[str, Any]:
        self.terminals.find(params)
        self.terminals.forget(params)
        return {}


if __name__ == "__main__":
    main(Client)
