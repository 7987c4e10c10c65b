"""Defect: the end of the agent's output is noticed only when its process ends."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "misbehaviour/closes-its-output": {"R-301"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.inbox.put(line)
        self.process.wait()
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
