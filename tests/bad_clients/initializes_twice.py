"""Defect: initialize is sent again before each new session."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

BREAKS = {
    "*": {"R-041"},
    "setup/plain-conversation": {"R-041"},
}


class Client(RawClient):
    def new_session(self) -> None:
        params = {"protocolVersion": 1, "clientCapabilities": self.capabilities}
        self.answer_to_anything(self.send_request("initialize", params))
        super().new_session()

    def answer_to_anything(self, id_: int) -> None:
        try:
            self.answer_to(id_, 10)
        except Failed:
            return


if __name__ == "__main__":
    main(Client)
