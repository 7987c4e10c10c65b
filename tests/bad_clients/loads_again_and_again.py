"""Defect: a load or a resume that fails is tried again without end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "load/refused-with-32002": {"R-306"},
    "load/refused-with-32601": {"R-306"},
    "load/refused-with-32602": {"R-306"},
    "load/refused-with-32603": {"R-306"},
    "resume/refused-with-32002": {"R-306"},
}


class Client(RawClient):
    def do_session(self, step: dict[str, Any]) -> bool:
        for _ in range(40):
            if super().do_session(step) or step["do"] == "list" or not self.can(step["do"]):
                break
        return bool(self.session)


if __name__ == "__main__":
    main(Client)
