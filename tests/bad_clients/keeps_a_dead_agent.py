"""Defect: after the agent's death the dead connection is kept, and nothing happens any more."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import AgentGone, RawClient, main

FIELD_FAULTS = ("B074",)
BREAKS = {
    "process/new-after-death": {"R-301"},
}


class Client(RawClient):
    def do(self, step: dict[str, Any]) -> None:
        try:
            super().do(step)
        except AgentGone:
            while True:
                time.sleep(1)


if __name__ == "__main__":
    main(Client)
