"""Defect: what is not found is told by an error with a result of null beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "fs/read-missing": {"R-014"},
    "fs/unknown-session": {"R-014"},
    "terminal/release": {"R-014"},
}


class Client(RawClient):
    def respond_error(self, message: dict[str, Any], code: int, text: str) -> None:
        if code == -32002:
            error = {"code": code, "message": text}
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": error, "result": None})
        else:
            super().respond_error(message, code, text)


if __name__ == "__main__":
    main(Client)
