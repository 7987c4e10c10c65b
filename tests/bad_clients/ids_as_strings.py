"""Defect: a choice carries the id of its request as a string."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B072",)
BREAKS = {
    "*": {"R-016", "R-040", "R-154", "R-175", "R-177", "R-178", "R-181", "R-182", "R-247", "R-303"},
    "ids/permission-of-id-zero": {"R-016", "R-175"},
    "permission/default-policy": {"R-016"},
    "permission/reject": {"R-016", "R-175", "R-178"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        super().answer_selected(message | {"id": str(message["id"])}, option_id)


if __name__ == "__main__":
    main(Client)
