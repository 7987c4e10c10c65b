"""Defect: the outcome of a permission is a plain string instead of an object."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-175", "R-178"},
    "framing/escapes": {"R-175"},
    "ids/equal-to-the-clients": {"R-175"},
    "permission/opaque-option-ids": {"R-175"},
    "permission/reject": {"R-175", "R-178"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        self.respond(message, {"outcome": "selected", "optionId": option_id})


if __name__ == "__main__":
    main(Client)
