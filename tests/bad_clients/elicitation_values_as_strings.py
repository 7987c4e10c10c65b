"""Defect: all values of a form are sent as strings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/form-accepted": {"R-237"},
}


class Client(RawClient):
    def respond(self, message: dict[str, Any], result: Any) -> None:
        if message["method"] == "elicitation/create" and result.get("content"):
            values = {name: str(value) for name, value in result["content"].items()}
            result = result | {"content": values}
        super().respond(message, result)


if __name__ == "__main__":
    main(Client)
