"""Defect: updates of a session are thrown away while the answer to session/new is dealt with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

FIELD_FAULTS = ("B001",)
BREAKS = {
    "setup/commands-after-new": {"R-308"},
}


class Client(RawClient):
    setting_up = False

    def new_session(self) -> None:
        self.setting_up = True
        super().new_session()
        # What is in the pipe already came before anybody could have set the session up.
        while self.pump(0.3):
            pass
        self.setting_up = False

    def on_update(self, update: dict[str, Any]) -> None:
        if not self.setting_up:
            super().on_update(update)


if __name__ == "__main__":
    main(Client)
