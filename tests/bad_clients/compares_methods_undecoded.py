"""Defect: the method of a message is compared as it is spelt, escapes and all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/escaped-letters": {"R-040", "R-308"},
}
METHOD = rb'"(?:method|\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064)"\s*:\s*"([^"]*)"'


class Client(RawClient):
    def read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            spelt = re.search(METHOD, line)
            undecoded = b"\\" in spelt[1] if spelt else False
            if undecoded:
                line = orjson.dumps(orjson.loads(line) | {"method": "unknown"})
            self.inbox.put(line)
        self.inbox.put(None)


if __name__ == "__main__":
    main(Client)
