"""Defect: while a permission is open, no other request of the agent is served."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B006",)
BREAKS = {
    "permission/read-while-open": {"R-304"},
    "permission/turn-ends-while-open": {"R-304"},
    "permission/update-while-open": {"R-304"},
    "permission/withdrawn": {"R-304"},
    "permission/withdrawn-at-the-end": {"R-304"},
}


class Client(RawClient):
    later: ClassVar[list[dict[str, Any]]] = []

    def handle_request(self, message: dict[str, Any]) -> None:
        if self.held:
            self.later.append(message)
        else:
            super().handle_request(message)

    def pump(self, within_s: float) -> bool:
        while self.later and not self.held:
            super().handle_request(self.later.pop(0))
        return super().pump(within_s)


if __name__ == "__main__":
    main(Client)
