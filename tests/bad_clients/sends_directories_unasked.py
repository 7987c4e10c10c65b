"""Defect: more directories are named to an agent that has not advertised them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-078"},
    "setup/plain-conversation": {"R-078"},
}


class Client(RawClient):
    def send_request(self, method: str, params: dict[str, Any]) -> int:
        if method == "session/new" and not self.can("additionalDirectories"):
            params = params | {"additionalDirectories": [self.cwd]}
        return super().send_request(method, params)


if __name__ == "__main__":
    main(Client)
