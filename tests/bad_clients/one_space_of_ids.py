"""Defect: a request with the id of an own open request is taken for its answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "ids/equal-to-the-clients": {"R-016", "R-175"},
    "ids/permission-of-id-zero": {"R-016", "R-175"},
    "ids/the-clients-next": {"R-016"},
    "ids/whole-numbers": {"R-016"},
    "ids/zero-beside-its-string": {"R-016"},
}


class Client(RawClient):
    def handle(self, message: dict[str, Any]) -> None:
        id_ = message.get("id")
        if "method" in message and type(id_) is int and 0 <= id_ < self.next_id:
            self.handle_response(message)
        else:
            super().handle(message)


if __name__ == "__main__":
    main(Client)
