"""Defect: where a session has options and modes, the mode is still set as a mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/options-before-modes": {"R-110"},
}


class Client(RawClient):
    def set_option(self, id_: str, value: Any) -> None:
        if value in self.modes:
            self.set_mode(value)
        else:
            super().set_option(id_, value)


if __name__ == "__main__":
    main(Client)
