"""Defect: a login in a terminal is asked for by authenticate."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/terminal-login": {"R-045"},
    "auth/terminal-login-fails": {"R-045"},
    "auth/terminal-method-beside-another": {"R-045"},
}


class Client(RawClient):
    def log_in(self) -> None:
        self.call("authenticate", {"methodId": self.auth_methods[0]["id"]})


if __name__ == "__main__":
    main(Client)
