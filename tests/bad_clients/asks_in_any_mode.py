"""Defect: an elicitation in a mode that does not exist is shown as a form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/unknown-mode": {"R-225"},
}


class Client(RawClient):
    def on_elicitation(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if params.get("mode") not in {"form", "url"}:
            params = params | {"mode": "form"}
        super().on_elicitation(message, params)


if __name__ == "__main__":
    main(Client)
