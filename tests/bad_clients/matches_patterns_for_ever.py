"""Defect: what the user enters is matched against the agent's pattern, however long that takes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/catastrophic-pattern": {"R-244", "R-301"},
}


class Client(RawClient):
    def on_elicitation(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        fields = (params.get("requestedSchema") or {}).get("properties") or {}
        for field in fields.values():
            if "pattern" in field:
                re.match(field["pattern"], "a" * 60)
        super().on_elicitation(message, params)


if __name__ == "__main__":
    main(Client)
