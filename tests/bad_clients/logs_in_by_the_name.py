"""Defect: the login names the method by its name, not by its id."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/login-then-session": {"R-044"},
    "auth/login-answered-with-null": {"R-044"},
    "auth/terminal-method-beside-another": {"R-044"},
    "auth/session-refused-for-ever": {"R-044"},
    "auth/login-refused-for-ever": {"R-044"},
}


class Client(RawClient):
    def log_in(self) -> None:
        self.auth_methods = [method | {"id": method["name"]} for method in self.auth_methods]
        super().log_in()


if __name__ == "__main__":
    main(Client)
