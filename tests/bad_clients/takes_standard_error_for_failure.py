"""Defect: anything on the agent's standard error that looks like an error ends the client."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "process/chatty-in-a-turn": {"R-008"},
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
        threading.Thread(target=self.watch, args=(reading,), daemon=True).start()

    def watch(self, reading: int) -> None:
        """Read the standard error to its end."""
        while data := os.read(reading, 65536):
            if b"ERROR" in data:
                self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
