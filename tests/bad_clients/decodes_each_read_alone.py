"""Defect: every slice that a read gives is decoded by itself, so that a character cut in two is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B066",)
BREAKS = {"framing/byte-by-byte": {"R-308"}}


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        text = ""
        while data := os.read(self.process.stdout.fileno(), 65536):
            text += data.decode("utf-8", "replace")
            *lines, text = text.split("\n")
            for line in lines:
                self.inbox.put(line.encode())
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
