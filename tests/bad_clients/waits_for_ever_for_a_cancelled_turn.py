"""Defect: a cancelled turn is waited for without end, and nothing else can be done meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "cancel/ignored": {"R-305"},
}


class Client(RawClient):
    def answer_to(self, id_: int, within_s: float, while_cancelled_s: float | None = None) -> dict[str, Any]:
        return super().answer_to(id_, within_s, 3600.0 if while_cancelled_s is not None else None)


if __name__ == "__main__":
    main(Client)
