"""Defect: a login method of a type the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/method-of-unknown-type": {"R-053"},
}


class Client(RawClient):
    def initialize(self) -> None:
        super().initialize()
        for method in self.auth_methods:
            if method.get("type", "agent") not in {"agent", "terminal"}:
                raise ValueError(f"unknown variant {method['type']}")


if __name__ == "__main__":
    main(Client)
