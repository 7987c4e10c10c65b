"""Defect: an error in answer to a cancelled prompt is taken for a crash: the agent is ended and started again."""

from __future__ import annotations

import queue
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B019",)
BREAKS = {
    "cancel/internal-error-instead": {"R-305"},
    "misbehaviour/error-instead-of-cancelled": {"R-305"},
}


class Client(RawClient):
    def prompt(self, text: str) -> None:
        super().prompt(text)
        if self.cancelled and self.failed:
            self.end_agent()
            self.reader.join(5)
            self.inbox = queue.Queue()
            self.start_agent()
            self.initialize()
            self.new_session()

    failed = False

    def show(self, kind: str, **members: Any) -> None:
        self.failed = kind == "error"
        super().show(kind, **members)


if __name__ == "__main__":
    main(Client)
