"""Defect: an option of a type the client does not know ends it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/option-of-unknown-type": {"R-116"},
}


class Client(RawClient):
    def note_options(self, options: Any) -> None:
        for option in options or []:
            if option["type"] not in {"select", "boolean"}:
                raise ValueError(f"unknown variant {option['type']}")
        super().note_options(options)


if __name__ == "__main__":
    main(Client)
