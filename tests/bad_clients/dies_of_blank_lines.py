"""Defect: a blank line ends the client."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "framing/blank-lines": {"R-302"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.strip():
                break
            self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
