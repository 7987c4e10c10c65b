"""Legal: every answer takes its time."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Message, RawClient, main


class Client(RawClient):
    def handle_request(self, message: Message) -> None:
        time.sleep(0.15)
        super().handle_request(message)


if __name__ == "__main__":
    main(Client)
