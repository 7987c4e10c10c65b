"""Defect: a kill ends the terminal as well: its output is gone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "terminal/kill": {"R-220"},
}


class Client(RawClient):
    def on_kill(self, params: dict[str, Any]) -> dict[str, Any]:
        self.terminals.find(params).kill()
        self.answer_waits()
        self.terminals.forget(params)
        return {}


if __name__ == "__main__":
    main(Client)
