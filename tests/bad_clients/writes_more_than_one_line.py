"""Defect: the output of a terminal is sent over several lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-004", "R-215", "R-216", "R-218", "R-219", "R-220", "R-222", "R-310", "R-311"},
    "terminal/after-the-turn": {"R-004"},
    "terminal/kill": {"R-004", "R-220"},
    "terminal/released-while-waiting": {"R-004"},
    "terminal/several-at-once": {"R-004", "R-218"},
}


class Client(RawClient):
    def respond(self, message: dict[str, Any], result: Any) -> None:
        if message["method"] == "terminal/output":
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            self.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2) + b"\n")
        else:
            super().respond(message, result)


if __name__ == "__main__":
    main(Client)
