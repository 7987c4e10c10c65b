"""Defect: a response that is none is answered with an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B069",)
BREAKS = {
    "misbehaviour/both-result-and-error": {"R-016"},
    "misbehaviour/malformed-responses": {"R-016"},
}


class Client(RawClient):
    def handle_response(self, message: dict[str, Any]) -> None:
        if ("result" in message) == ("error" in message):
            self.respond_error({"id": message.get("id")}, -32600, "Invalid request")
        super().handle_response(message)


if __name__ == "__main__":
    main(Client)
