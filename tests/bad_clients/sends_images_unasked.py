"""Defect: a prompt has an image that the agent has not advertised."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B091",)
BREAKS = {
    "*": {"R-127", "R-205"},
    "auth/login-then-session": {"R-127", "R-205"},
    "auth/method-of-unknown-type": {"R-127", "R-205"},
    "handshake/first-turn": {"R-127", "R-205"},
    "setup/plain-conversation": {"R-127", "R-205"},
}


class Client(RawClient):
    def prompt_content(self, text: str) -> list[dict[str, Any]]:
        image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
        return [*super().prompt_content(text), image]


if __name__ == "__main__":
    main(Client)
