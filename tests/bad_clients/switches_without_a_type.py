"""Defect: a boolean option is set without its type."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "config/set-a-switch": {"R-114"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/set_config_option":
            params = {name: value for name, value in params.items() if name != "type"}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
