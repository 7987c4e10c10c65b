"""Defect: a prompt capability that is left out ends the client."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B041",)
BREAKS = {
    "setup/some-capabilities": {"R-033"},
}


class Client(RawClient):
    def initialize(self) -> None:
        super().initialize()
        known = self.capabilities_of_agent.get("promptCapabilities")
        if known:
            self.can_send = [known[name] for name in ("image", "audio", "embeddedContext")]


if __name__ == "__main__":
    main(Client)
