"""Defect: lines of more than a mebibyte are thrown away in silence."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "framing/line-of-1-mib": {"R-308"},
    "framing/line-of-16-mib": {"R-308"},
    "framing/long-request-and-response": {"R-252", "R-312"},
}
LONGEST = 1024 * 1024


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if len(line) <= LONGEST:
                self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
