"""Defect: the version that the agent answers is not looked at."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {"handshake/unknown-version": {"R-029"}}


class Client(RawClient):
    def answer_to(self, id_: int, within_s: float, while_cancelled_s: float | None = None) -> dict[str, Any]:
        result = super().answer_to(id_, within_s, while_cancelled_s)
        return result | {"protocolVersion": 1} if "protocolVersion" in result else result


if __name__ == "__main__":
    main(Client)
