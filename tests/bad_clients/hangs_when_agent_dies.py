"""Defect: the end of the agent is not noticed; the client waits for its answer for ever."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import AgentGone, RawClient, main

BREAKS = {
    "misbehaviour/dies-in-a-turn": {"R-301"},
    "misbehaviour/dies-at-session-new": {"R-301"},
    "*": {"R-301"},
}


class Client(RawClient):
    def pump(self, within_s: float) -> bool:
        try:
            return super().pump(within_s)
        except AgentGone:
            time.sleep(3600)
            raise


if __name__ == "__main__":
    main(Client)
