"""Defect: a prompt has an embedded file that the agent has not advertised."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B091",)
BREAKS = {
    "*": {"R-127", "R-205"},
    "setup/plain-conversation": {"R-127", "R-205"},
}


class Client(RawClient):
    def prompt_content(self, text: str) -> list[dict[str, Any]]:
        file = {"uri": "file:///project/a.py", "text": "x = 1"}
        return [*super().prompt_content(text), {"type": "resource", "resource": file}]


if __name__ == "__main__":
    main(Client)
