"""Defect: while somebody waits for a command to end, nothing else is served."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B062",)
BREAKS = {
    "terminal/released-while-waiting": {"R-219", "R-222", "R-301"},
    "terminal/while-it-runs": {"R-219", "R-301"},
}


class Client(RawClient):
    def on_wait_for_exit(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        terminal = self.terminals.find(params)
        while not terminal.has_ended:
            time.sleep(0.05)
        super().on_wait_for_exit(message, params)


if __name__ == "__main__":
    main(Client)
