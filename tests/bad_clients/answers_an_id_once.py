"""Defect: an id that was answered once is not answered again, though its request was another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "ids/reused-after-completion": {"R-016"},
    "ids/the-clients-next": {"R-016"},
}


class Client(RawClient):
    seen: ClassVar[set[str]] = set()

    def handle_request(self, message: dict[str, Any]) -> None:
        if repr(message["id"]) not in self.seen:
            self.seen.add(repr(message["id"]))
            super().handle_request(message)


if __name__ == "__main__":
    main(Client)
