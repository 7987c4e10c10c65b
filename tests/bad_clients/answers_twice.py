"""Defect: a choice is sent twice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-016"},
    "permission/only-an-id": {"R-016"},
    "permission/opaque-option-ids": {"R-016"},
    "permission/reject": {"R-016"},
    "permission/update-in-the-same-write": {"R-016"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        super().answer_selected(message, option_id)
        super().answer_selected(message, option_id)


if __name__ == "__main__":
    main(Client)
