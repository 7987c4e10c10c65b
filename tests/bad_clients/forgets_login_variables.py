"""Defect: a login in a terminal is run without the variables of its method."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B079",)
BREAKS = {
    "auth/terminal-login": {"R-050"},
}


class Client(RawClient):
    def log_in_by_terminal(self, method: dict[str, Any]) -> int:
        return super().log_in_by_terminal(method | {"env": {}})


if __name__ == "__main__":
    main(Client)
