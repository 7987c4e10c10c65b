"""Defect: the session's id is read up to its first quotation mark."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "setup/odd-session-id": {"R-074"},
}


class Client(RawClient):
    def new_session(self) -> None:
        super().new_session()
        self.session = self.session.split('"')[0]


if __name__ == "__main__":
    main(Client)
