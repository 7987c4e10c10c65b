"""Defect: a line that ends with carriage return and line feed is dropped."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B067",)
BREAKS = {
    "framing/crlf": {"R-308", "R-315"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith(b"\r\n"):
                self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
