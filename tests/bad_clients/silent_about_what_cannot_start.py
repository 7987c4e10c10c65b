"""Defect: a program that does not exist gets no answer at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "terminal/cannot-start": {"R-016", "R-311"},
}


class Client(RawClient):
    def respond_error(self, message: dict[str, Any], code: int, text: str) -> None:
        if message["method"] != "terminal/create":
            super().respond_error(message, code, text)


if __name__ == "__main__":
    main(Client)
