"""Defect: an update of a kind the client does not know ends the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

FIELD_FAULTS = ("B036",)
BREAKS = {"forward/unknown-update": {"R-303"}}
KNOWN = {
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
}


class Client(RawClient):
    def on_update(self, update: dict[str, Any]) -> None:
        if update["sessionUpdate"] not in KNOWN:
            raise Failed(0, f"unknown variant {update['sessionUpdate']}")
        super().on_update(update)

    def prompt(self, text: str) -> None:
        super().prompt(text)
        if self.exit_code:
            raise Failed(0, "the run has failed")


if __name__ == "__main__":
    main(Client)
