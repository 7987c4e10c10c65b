"""Defect: a refusal is answered with the outcome cancelled, though there is an option that rejects."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B026",)
BREAKS = {
    "permission/ids-that-are-other-kinds": {"R-175", "R-178"},
    "permission/reject": {"R-175", "R-178"},
    "permission/reject-for-ever-only": {"R-178"},
}


class Client(RawClient):
    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        kinds = {option["optionId"]: option["kind"] for option in message["params"]["options"]}
        if str(kinds.get(option_id)).startswith("reject"):
            self.answer_cancelled(message)
        else:
            super().answer_selected(message, option_id)


if __name__ == "__main__":
    main(Client)
