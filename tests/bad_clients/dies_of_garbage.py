"""Defect: a line that is no JSON ends the client."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B069",)
BREAKS = {
    "misbehaviour/banner-on-stdout": {"R-302"},
    "misbehaviour/garbage-lines": {"R-302"},
}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip():
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    break
            self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
