"""Defect: the id of an elicitation is taken apart, and one that is not made as expected is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Message, RawClient, main
from raw_services import Refusal

BREAKS = {"elicitation/odd-id": {"R-236", "R-241"}}


class Client(RawClient):
    def on_elicitation(self, message: Message, params: Message) -> None:
        if "elicitationId" in params and not re.fullmatch(r"[A-Za-z]+-[0-9]+", params["elicitationId"]):
            raise Refusal(-32602, "Invalid params: this is no id of an elicitation")
        super().on_elicitation(message, params)


if __name__ == "__main__":
    main(Client)
