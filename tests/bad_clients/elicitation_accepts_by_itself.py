"""Defect: a form that the user declines is answered with accept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/form-decline": {"R-236"},
    "elicitation/url-not-opened": {"R-236"},
}


class Client(RawClient):
    def respond(self, message: dict[str, Any], result: Any) -> None:
        if message["method"] == "elicitation/create" and result.get("action") == "decline":
            result = {"action": "accept", "content": {}}
        super().respond(message, result)


if __name__ == "__main__":
    main(Client)
