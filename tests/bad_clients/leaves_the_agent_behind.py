"""Defect: closing the pipe is taken for ending the agent."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B076",)
BREAKS = {
    "process/slow-to-exit": {"R-307"},
}


class Client(RawClient):
    def end_agent(self) -> None:
        self.terminals.close()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        # What is needed for the record, and no more.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)


if __name__ == "__main__":
    main(Client)
