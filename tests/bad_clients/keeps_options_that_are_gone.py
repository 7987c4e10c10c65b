"""Defect: a list of options without any entry is ignored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/changed-by-the-agent": {"R-308"},
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if not (update.get("sessionUpdate") == "config_option_update" and not update.get("configOptions")):
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
