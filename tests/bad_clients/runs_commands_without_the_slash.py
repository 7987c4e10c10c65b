"""Defect: a command is sent without its slash."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "setup/commands-after-new": {"R-203"},
}


class Client(RawClient):
    def prompt_content(self, text: str) -> list[dict[str, Any]]:
        return super().prompt_content(text.removeprefix("/"))


if __name__ == "__main__":
    main(Client)
