"""Defect: of several files that are read at once, the answers are given in another order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "fs/many-at-once": {"R-209"},
}


class Client(RawClient):
    waiting: ClassVar[list[tuple[dict[str, Any], Any]]] = []

    def respond(self, message: dict[str, Any], result: Any) -> None:
        if message["method"] != "fs/read_text_file":
            super().respond(message, result)
            return
        self.waiting.append((message, result))
        while self.inbox.qsize() == 0 and self.waiting:
            if super().pump(0.05):
                return
            results = [content for _, content in reversed(self.waiting)]
            for (request, _), content in zip(self.waiting, results, strict=True):
                super().respond(request, content)
            self.waiting.clear()


if __name__ == "__main__":
    main(Client)
