"""Defect: the choices are collapsed to allow and reject: of several of a kind the first is taken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B024",)
BREAKS = {
    "permission/four-of-one-kind": {"R-175"},
    "permission/ids-that-are-other-kinds": {"R-178"},
}


class Client(RawClient):
    def pick(self, options: list[dict[str, Any]]) -> str | None:
        chosen = [option for option in options if option["optionId"] == self.choice]
        if chosen:
            kind = chosen[0]["kind"]
            return next(str(option["optionId"]) for option in options if option["kind"] == kind)
        return super().pick(options)


if __name__ == "__main__":
    main(Client)
