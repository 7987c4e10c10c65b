"""Defect: a session that is being loaded gets its first prompt before the answer has come."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "*": {"R-074", "R-126"},
    "load/replay": {"R-126"},
}


class Client(RawClient):
    def do_session(self, step: dict[str, Any]) -> bool:
        if step["do"] != "load" or not self.can("load") or "sessionId" not in step:
            return super().do_session(step)
        self.session = step["sessionId"]
        params = {"sessionId": self.session, "cwd": self.cwd, "mcpServers": []}
        self.send_request("session/load", params)
        return True


if __name__ == "__main__":
    main(Client)
