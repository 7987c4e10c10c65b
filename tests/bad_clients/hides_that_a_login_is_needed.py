"""Defect: a prompt that wants a login ends without a word to the user."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "auth/prompt-wants-login": {"R-057"},
}


class Client(RawClient):
    def show(self, kind: str, **members: Any) -> None:
        if not (kind == "error" and str(members.get("text")).startswith("-32000")):
            super().show(kind, **members)


if __name__ == "__main__":
    main(Client)
