"""Defect: a response to a request that was never made is answered with an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "misbehaviour/malformed-responses": {"R-015", "R-016"},
    "misbehaviour/responses-to-nobody": {"R-015", "R-016"},
}


class Client(RawClient):
    def handle_response(self, message: dict[str, Any]) -> None:
        id_ = message.get("id")
        if not (type(id_) is int and 0 <= id_ < self.next_id):
            self.respond_error({"id": id_}, -32600, "Invalid request")
        super().handle_response(message)


if __name__ == "__main__":
    main(Client)
