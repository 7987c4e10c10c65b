"""Defect: method names are looked for in the line as it is spelled, escapes and all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B042",)
BREAKS = {
    "framing/escapes": {"R-040", "R-175", "R-308"},
    "framing/orders-and-spaces": {"R-040", "R-175", "R-308"},
    "framing/separators-in-strings": {"R-308"},
}


METHOD = re.compile(rb'"method":"([^"]*)"')


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.inbox.put(self.respell(line))
        self.inbox.put(None)

    def respell(self, line: bytes) -> bytes:
        """With the method that is read off the line."""
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            return line
        if not isinstance(message, dict) or "method" not in message:
            return line
        found = METHOD.search(line)
        return orjson.dumps(message | {"method": found[1].decode("utf-8", "replace")}) if found else b"{}"


if __name__ == "__main__":
    main(Client)
