"""Defect: a file is served in the name of any session."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B056",)
BREAKS = {
    "fs/unknown-session": {"R-083"},
}


class Client(RawClient):
    def check_session(self, params: dict[str, Any]) -> None:
        pass


if __name__ == "__main__":
    main(Client)
