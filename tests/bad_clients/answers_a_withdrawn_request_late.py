"""Defect: $/cancel_request is not understood: a permission that the agent takes back stays open."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/update-while-open": {"R-016"},
    "permission/withdrawn": {"R-166", "R-170"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        if message["method"] != "$/cancel_request":
            super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
