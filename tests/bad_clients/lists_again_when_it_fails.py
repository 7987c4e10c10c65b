"""Defect: a list that fails is asked for again at once, without end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

BREAKS = {
    "list/refused": {"R-306"},
}


class Client(RawClient):
    def list_sessions(self) -> list[dict[str, Any]]:
        while True:
            try:
                return super().list_sessions()
            except Failed:
                continue


if __name__ == "__main__":
    main(Client)
