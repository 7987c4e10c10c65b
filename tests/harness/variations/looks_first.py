"""Legal: the agent is started and asked what it is, ended, and started again to be used."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import RawClient, main


class Client(RawClient):
    def start_agent(self) -> None:
        super().start_agent()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)
        self.inbox.get()
        super().start_agent()


if __name__ == "__main__":
    main(Client)
