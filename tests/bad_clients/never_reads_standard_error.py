"""Defect: the agent's standard error is a pipe that nobody reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B077",)
BREAKS = {
    "process/chatty-at-the-start": {"R-008", "R-309"},
    "process/chatty-in-a-turn": {"R-309"},
}


class Client(RawClient):
    def start_agent(self) -> None:
        reading, writing = os.pipe()
        kept = os.dup(2)
        os.dup2(writing, 2)
        try:
            super().start_agent()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(writing)
        self.unread = reading


if __name__ == "__main__":
    main(Client)
