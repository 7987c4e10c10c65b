"""Defect: the agent's lines are read in the coding of the platform, which is not UTF-8."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B067",)
BREAKS = {
    "framing/byte-by-byte": {"R-308"},
    "framing/line-of-1-mib": {"R-308"},
    "framing/separators-in-strings": {"R-308"},
    "ids/strings": {"R-016"},
    "stream/burst-of-5-mib": {"R-308"},
    "stream/cut-in-every-character": {"R-308"},
    "stream/two-thousand-letters": {"R-308"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.inbox.put(line.decode("latin-1").encode())
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
