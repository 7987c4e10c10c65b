"""Defect: the result of session/load must carry the sessionId; without one the client gives up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B011",)
BREAKS = {
    "load/long-history": {"R-304"},
    "load/replay": {"R-126"},
    "resume/first-turn": {"R-126"},
    "setup/load-answered-empty": {"R-304"},
    "setup/load-answered-null": {"R-304"},
    "setup/load-answered-with-nulls": {"R-304"},
}


class Client(RawClient):
    def note_offers(self, result: dict[str, Any]) -> None:
        self.session = result["sessionId"]
        super().note_offers(result)

    def main(self) -> int:
        try:
            return super().main()
        except KeyError:
            return 1


if __name__ == "__main__":
    main(Client)
