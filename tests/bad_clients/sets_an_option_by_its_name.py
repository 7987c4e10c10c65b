"""Defect: an option is set to the name of a value, not to the value."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/set-without-notification": {"R-123"},
    "config/set-with-notification-before": {"R-123"},
    "config/set-with-notification-after": {"R-123"},
    "config/list-that-changes": {"R-123"},
    "config/option-of-unknown-type": {"R-123"},
    "config/options-before-modes": {"R-123"},
}


class Client(RawClient):
    def set_option(self, id_: str, value: Any) -> None:
        super().set_option(id_, value if isinstance(value, bool) else value.title())


if __name__ == "__main__":
    main(Client)
