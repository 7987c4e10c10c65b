"""Defect: an error whose data is no object is taken for no answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B086",)
BREAKS = {
    "misbehaviour/errors-with-data": {"R-304"},
}


class Client(RawClient):
    def handle_response(self, message: dict[str, Any]) -> None:
        error = message.get("error")
        if not isinstance(error, dict) or isinstance(error.get("data", {}), dict):
            super().handle_response(message)


if __name__ == "__main__":
    main(Client)
