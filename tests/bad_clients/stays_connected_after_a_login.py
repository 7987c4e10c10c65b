"""Defect: after a login in a terminal the old connection is used again."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/terminal-login": {"R-050"},
}


class Client(RawClient):
    def log_in(self) -> None:
        methods = [method for method in self.auth_methods if method.get("type") == "terminal"]
        if methods == self.auth_methods and methods and self.log_in_by_terminal(methods[0]) == 0:
            return
        super().log_in()


if __name__ == "__main__":
    main(Client)
