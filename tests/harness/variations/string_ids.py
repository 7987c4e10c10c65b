"""Legal: the client's ids are strings."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Message, RawClient, main


class Client(RawClient):
    def send(self, message: Message) -> None:
        if "method" in message and "id" in message:
            message = {**message, "id": f"request-{message['id']}"}
        super().send(message)

    def handle_response(self, message: Message) -> None:
        id_ = message.get("id")
        if isinstance(id_, str) and id_.startswith("request-"):
            super().handle_response({**message, "id": int(id_.removeprefix("request-"))})


if __name__ == "__main__":
    main(Client)
