"""Defect: after a cancel, what is allowed is allowed no more: an open answer is given a second time as cancelled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/allow-then-cancel": {"R-016"},
}


class Client(RawClient):
    answered: ClassVar[list[dict[str, Any]]] = []

    def answer_selected(self, message: dict[str, Any], option_id: str) -> None:
        self.answered.append(message)
        super().answer_selected(message, option_id)

    def cancel(self) -> None:
        super().cancel()
        for message in self.answered:
            self.answer_cancelled(message)


if __name__ == "__main__":
    main(Client)
