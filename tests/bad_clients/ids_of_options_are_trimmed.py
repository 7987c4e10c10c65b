"""Defect: the ids of options are trimmed before they are sent back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/default-policy": {"R-175"},
    "permission/opaque-option-ids": {"R-175"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        super().answer_selected(message, option_id.strip())


if __name__ == "__main__":
    main(Client)
