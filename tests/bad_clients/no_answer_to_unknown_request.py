"""Defect: a request of a method the client does not know is dropped without an answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "forward/unknown-request": {"R-251", "R-252"},
    "framing/crlf": {"R-315"},
    "ids/reused-after-completion": {"R-016"},
    "*": {"R-016", "R-252", "R-312"},
}


class Client(RawClient):
    def respond_error(self, message: dict[str, Any], code: int, text: str) -> None:
        if code != -32601 or message["method"].startswith("_barrier"):
            super().respond_error(message, code, text)


if __name__ == "__main__":
    main(Client)
