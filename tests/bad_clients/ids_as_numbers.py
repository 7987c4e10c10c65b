"""Defect: the ids of the agent's requests are kept as numbers of floating point."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "ids/beyond-2-to-the-53": {"R-016"},
}


class Client(RawClient):
    def send(self, message: dict[str, Any]) -> None:
        if "method" not in message and type(message["id"]) is int:
            message = message | {"id": int(float(message["id"]))}
            if not -(2**63) <= message["id"] < 2**63:
                message["id"] = 2**63 - 1025
        super().send(message)


if __name__ == "__main__":
    main(Client)
