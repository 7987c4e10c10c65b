"""Defect: a _meta with something in it that is not the client's ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/meta-of-others": {"R-247"},
    "forward/meta-named-like-members": {"R-247"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        for name, value in ((message.get("params") or {}).get("_meta") or {}).items():
            if not name.startswith("our.example/"):
                raise ValueError(f"{name} is {value}")
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
