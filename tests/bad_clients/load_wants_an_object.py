"""Defect: null in answer to session/load is taken for no answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B011",)
BREAKS = {
    "setup/load-answered-null": {"R-304"},
}


class Client(RawClient):
    loading = False

    def do_session(self, step: dict[str, Any]) -> bool:
        self.loading = step["do"] == "load"
        return super().do_session(step)

    def handle_response(self, message: dict[str, Any]) -> None:
        if self.loading and "result" in message and message["result"] is None:
            raise ValueError("the session was not loaded")
        super().handle_response(message)


if __name__ == "__main__":
    main(Client)
