"""Defect: variables in the arguments of a login in a terminal are expanded."""

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
        line = " ".join(method["args"])
        return super().log_in_by_terminal(method | {"args": line.replace("$HOME", "/home").split(" ", 1)})


if __name__ == "__main__":
    main(Client)
