"""Defect: a prompt that is answered with -32000 is sent again after a login, without end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B087",)
BREAKS = {
    "auth/prompt-wants-login": {"R-306"},
    "misbehaviour/login-needed-in-a-turn": {"R-306"},
}


class Client(RawClient):
    refused = False

    def prompt(self, text: str) -> None:
        super().prompt(text)
        while self.refused and self.auth_methods:
            self.refused = False
            self.log_in()
            super().prompt(text)

    def show(self, kind: str, **members: Any) -> None:
        self.refused = self.refused or str(members.get("text")).startswith("-32000")
        super().show(kind, **members)


if __name__ == "__main__":
    main(Client)
