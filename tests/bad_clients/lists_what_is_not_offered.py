"""Defect: sessions are listed whatever the agent advertises."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B082",)
BREAKS = {
    "setup/nothing-advertised": {"R-089"},
    "setup/null-is-off": {"R-036", "R-089"},
    "setup/null-containers": {"R-036", "R-089"},
}


class Client(RawClient):
    def can(self, name: str) -> bool:
        return name == "list" or super().can(name)


if __name__ == "__main__":
    main(Client)
