"""Legal: notifications and `_meta` of its own between everything else, and no display record."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Message, RawClient, main


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        if self.display_file is not None:
            self.display_file.close()
            self.display_file = None

    def send(self, message: Message) -> None:
        if "method" in message:
            message = {**message, "params": {**message["params"], "_meta": {"example.org/trace": [1, None]}}}
        super().send(message)

    def prompt(self, text: str) -> None:
        self.notify("_example.org/focus", {"sessionId": self.session})
        super().prompt(text)


if __name__ == "__main__":
    main(Client)
