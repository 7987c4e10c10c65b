"""Defect: where a permission request offers nothing, the client chooses all the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "permission/no-options": {"R-175"},
}


class Client(RawClient):
    def pick(self, options: list[dict[str, Any]]) -> str | None:
        return super().pick(options) or "allow_once"


if __name__ == "__main__":
    main(Client)
