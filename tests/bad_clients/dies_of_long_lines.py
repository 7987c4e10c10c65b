"""Defect: a line of more than 64 KiB breaks the reader, and the connection with it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B064",)
BREAKS = {
    "framing/around-64-kib": {"R-312"},
    "framing/line-of-1-mib": {"R-312"},
    "framing/line-of-16-mib": {"R-312"},
    "framing/long-request-and-response": {"R-312"},
    "process/stall-then-a-small-line": {"R-304"},
    "stream/burst-of-5-mib": {"R-304"},
}
LONGEST = 65536


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline(LONGEST):
            if not line.endswith(b"\n"):
                break
            self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
