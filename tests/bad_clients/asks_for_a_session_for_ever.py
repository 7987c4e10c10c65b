"""Defect: where no login is offered, a refused session is asked for again, without end."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/no-methods-and-refused": {"R-306"},
}


class Client(RawClient):
    def log_in(self) -> None:
        if self.auth_methods:
            super().log_in()
            return
        self.new_session()


if __name__ == "__main__":
    main(Client)
