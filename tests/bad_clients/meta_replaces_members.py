"""Defect: what is in the _meta of an update replaces what is beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/meta-named-like-members": {"R-247"},
}


class Client(RawClient):
    def handle_notification(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if isinstance(params, dict) and isinstance(params.get("_meta"), dict):
            message = message | {"params": params | params["_meta"] | {"sessionId": params.get("sessionId")}}
        super().handle_notification(message)


if __name__ == "__main__":
    main(Client)
