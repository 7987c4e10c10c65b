"""Defect: null in answer to a login is taken for its failure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/login-answered-with-null": {"R-304"},
}


class Client(RawClient):
    asked = False

    def log_in(self) -> None:
        self.asked = True
        super().log_in()

    def handle_response(self, message: dict[str, Any]) -> None:
        if self.asked and "result" in message:
            self.asked = False
            dict(message["result"])
        super().handle_response(message)


if __name__ == "__main__":
    main(Client)
