"""Defect: a mode is set by its name, not by its id."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "modes/only-modes": {"R-106"},
    "modes/set-answered-with-null": {"R-106"},
    "modes/set-without-notification": {"R-106"},
    "modes/set-with-notification-before": {"R-106"},
    "modes/set-with-notification-after": {"R-106"},
}


class Client(RawClient):
    def set_mode(self, mode: str) -> None:
        super().set_mode(mode.title())


if __name__ == "__main__":
    main(Client)
