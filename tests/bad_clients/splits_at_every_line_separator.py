"""Defect: lines are split wherever Unicode knows a line separator."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "framing/separators-in-strings": {"R-308"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            for piece in line.decode("utf-8", "replace").splitlines():
                self.inbox.put(piece.encode())
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
