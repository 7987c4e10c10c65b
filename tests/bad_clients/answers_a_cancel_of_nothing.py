"""Defect: $/cancel_request of a request that has its answer is answered with a second one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/withdrawn-too-late": {"R-016", "R-167"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        if message["method"] == "$/cancel_request":
            id_ = message["params"]["requestId"]
            if repr(id_) not in self.held:
                self.respond_error({"id": id_}, -32800, "Request cancelled")
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
