"""Defect: the end of the agent in a turn is taken for the end of the turn."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import AgentGone, Failed, RawClient, main

BREAKS = {
    "*": {"R-301"},
    "misbehaviour/dies-at-session-load": {"R-301"},
    "misbehaviour/dies-in-a-turn": {"R-301"},
    "misbehaviour/dies-while-asking": {"R-301"},
    "misbehaviour/exits-with-0-in-a-turn": {"R-301"},
}


class Client(RawClient):
    def main(self) -> int:
        self.start_agent()
        try:
            self.run()
        except AgentGone:
            self.show("end", stopReason="end_turn")
        except Failed as error:
            self.show("error", text=str(error))
            self.exit_code = 1
        finally:
            self.end_agent()
        return self.exit_code


if __name__ == "__main__":
    main(Client)
