"""Defect: a request of the agent sets the counter for the client's own ids, so that it loses its own requests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B071",)
BREAKS = {
    "ids/the-clients-next": {"R-304"},
}


class Client(RawClient):
    def handle_request(self, message: dict[str, Any]) -> None:
        if type(message["id"]) is int and 0 <= message["id"] < 50:
            self.next_id = message["id"] + 1
        super().handle_request(message)

    def handle_response(self, message: dict[str, Any]) -> None:
        # The answer that is waited for is the one to the last request, which the counter knows.
        if message.get("id") == self.next_id - 1 or "error" in message:
            super().handle_response(message)


if __name__ == "__main__":
    main(Client)
