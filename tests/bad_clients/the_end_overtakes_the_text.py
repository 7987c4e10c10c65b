"""Defect: behind a long burst the end of the turn is handled before the last updates are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B004",)
BREAKS = {
    "stream/five-hundred-then-the-end": {"R-308"},
}


class Client(RawClient):
    waiting: ClassVar[list[dict[str, Any]]] = []
    burst = 0

    def on_update(self, update: dict[str, Any]) -> None:
        self.burst += 1
        if self.turn_open and self.burst > 400:
            self.waiting.append(update)
        else:
            super().on_update(update)

    def pump(self, within_s: float) -> bool:
        heard = super().pump(within_s)
        if not heard:
            self.burst = 0
            self.show_waiting()
        return heard

    def prompt(self, text: str) -> None:
        super().prompt(text)
        self.show_waiting()

    def show_waiting(self) -> None:
        for update in self.waiting:
            super().on_update(update)
        self.waiting.clear()


if __name__ == "__main__":
    main(Client)
