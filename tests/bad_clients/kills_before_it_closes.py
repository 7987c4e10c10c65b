"""Defect: the agent is ended by a signal while its input is still open."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "process/slow-to-exit": {"R-307"},
}


class Client(RawClient):
    def end_agent(self) -> None:
        self.terminals.close()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(15)
        time.sleep(0.5)
        super().end_agent()


if __name__ == "__main__":
    main(Client)
