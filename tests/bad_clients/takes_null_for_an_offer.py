"""Defect: a capability that is null is taken for one that is there."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B039",)
BREAKS = {
    "setup/null-is-off": {"R-036", "R-065", "R-071"},
}


class Client(RawClient):
    def can(self, name: str) -> bool:
        methods = self.capabilities_of_agent.get("sessionCapabilities") or {}
        return super().can(name) or (name in methods and name != "list")


if __name__ == "__main__":
    main(Client)
