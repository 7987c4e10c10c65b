"""Defect: the answer to a permission request carries the kind of the option instead of its id."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-175", "R-178"},
    "framing/escapes": {"R-175"},
    "permission/ids-that-are-other-kinds": {"R-178"},
    "permission/only-an-id": {"R-175"},
    "permission/reject": {"R-175"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        kinds = {option["optionId"]: option["kind"] for option in message["params"]["options"]}
        super().answer_selected(message, str(kinds[option_id]))


if __name__ == "__main__":
    main(Client)
