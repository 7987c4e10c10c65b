"""Legal: $/cancel_request is ignored (R-162), and a question without options stays until its turn ends."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Message, RawClient, main


class Client(RawClient):
    def handle_notification(self, message: Message) -> None:
        if not message["method"].startswith("$/"):
            super().handle_notification(message)

    def on_permission(self, message: Message, params: Message) -> None:
        if params["options"]:
            super().on_permission(message, params)
        else:
            self.hold(message)


if __name__ == "__main__":
    main(Client)
