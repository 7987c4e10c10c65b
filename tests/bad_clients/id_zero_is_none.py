"""Defect: a request with the id 0 or an empty one is taken for a notification."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B072",)
BREAKS = {
    "ids/permission-of-id-zero": {"R-016", "R-175"},
    "ids/strings": {"R-016"},
    "ids/whole-numbers": {"R-016"},
    "ids/zero-beside-its-string": {"R-016"},
}


class Client(RawClient):
    def handle(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message and not message["id"]:
            self.handle_notification(message)
        else:
            super().handle(message)


if __name__ == "__main__":
    main(Client)
