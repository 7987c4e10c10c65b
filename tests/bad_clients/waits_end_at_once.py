"""Defect: terminal/wait_for_exit is answered at once, whether the command has ended or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "terminal/while-it-runs": {"R-219"},
    "terminal/word-for-word": {"R-310"},
}


class Client(RawClient):
    def on_wait_for_exit(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if self.terminals.find(params).has_ended:
            super().on_wait_for_exit(message, params)
        else:
            self.respond(message, {"exitCode": None, "signal": None})


if __name__ == "__main__":
    main(Client)
