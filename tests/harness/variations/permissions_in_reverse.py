"""Legal: permissions that are open at once are answered in reverse order."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Message, RawClient, main

COLLECT_S = 0.2


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.postponed: list[tuple[Message, str]] = []
        self.due = 0.0

    def answer_selected(self, message: Message, option_id: str) -> None:
        self.postponed.append((message, option_id))
        self.due = time.monotonic() + COLLECT_S

    def cancel(self) -> None:
        self.postponed.reverse()
        for message, _ in self.postponed:
            self.held[repr(message["id"])] = message
        self.postponed.clear()
        super().cancel()

    def pump(self, within_s: float) -> bool:
        if self.postponed and time.monotonic() > self.due:
            for message, option_id in reversed(self.postponed):
                super().answer_selected(message, option_id)
            self.postponed.clear()
        return super().pump(within_s)


if __name__ == "__main__":
    main(Client)
