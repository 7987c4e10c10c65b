"""Defect: of several permission requests that arrive together, only the last is answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B031",)
BREAKS = {"permission/three-at-once": {"R-016", "R-175", "R-181"}}


class Client(RawClient):
    waiting: dict[str, Any] | None = None

    def on_permission(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.waiting = message | {"params": params}

    def pump(self, within_s: float) -> bool:
        heard = super().pump(within_s)
        if not heard and self.waiting is not None:
            message, self.waiting = self.waiting, None
            super().on_permission(message, message["params"])
        return heard


if __name__ == "__main__":
    main(Client)
