"""Defect: after a load or a resume that failed, the client goes on with the id that was refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B084",)
BREAKS = {
    "load/refused-with-32002": {"R-074"},
    "load/refused-with-32601": {"R-074"},
    "load/refused-with-32602": {"R-074"},
    "load/refused-with-32603": {"R-074"},
    "resume/refused-with-32002": {"R-074"},
}


class Client(RawClient):
    def do_session(self, step: dict[str, Any]) -> bool:
        opened = super().do_session(step)
        if step["do"] in {"load", "resume"} and not opened and self.can(step["do"]):
            self.refused = str(step.get("sessionId"))
        return opened

    refused = ""

    def new_session(self) -> None:
        super().new_session()
        self.session = self.refused or self.session


if __name__ == "__main__":
    main(Client)
