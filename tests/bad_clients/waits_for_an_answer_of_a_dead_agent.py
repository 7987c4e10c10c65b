"""Defect: while a permission is open the end of the agent is not noticed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import AgentGone, RawClient, main

FIELD_FAULTS = ("B034",)
BREAKS = {
    "misbehaviour/dies-while-asking": {"R-301"},
}


class Client(RawClient):
    def pump(self, within_s: float) -> bool:
        try:
            return super().pump(within_s)
        except AgentGone:
            while self.held:
                time.sleep(1)
            raise


if __name__ == "__main__":
    main(Client)
