"""Defect: of several updates of the usage only the first is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "usage/all-forms": {"R-308"},
}


class Client(RawClient):
    usage_shown = False

    def on_update(self, update: dict[str, Any]) -> None:
        usage = update.get("sessionUpdate") == "usage_update"
        if not (usage and self.usage_shown):
            super().on_update(update)
        self.usage_shown = self.usage_shown or usage


if __name__ == "__main__":
    main(Client)
