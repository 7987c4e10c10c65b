"""Defect: output that is too long is cut at its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Terminal

FIELD_FAULTS = ("B059",)
BREAKS = {
    "terminal/truncation": {"R-216"},
}


class Head(Terminal):
    def output(self) -> dict[str, Any]:
        limit, self._limit = self._limit, None
        try:
            answer = super().output()
        finally:
            self._limit = limit
        data = self._output
        if limit is not None and len(data) > limit:
            answer |= {"output": data[:limit].decode("utf-8", "ignore"), "truncated": True}
        return answer

    def _read(self) -> None:
        limit, self._limit = self._limit, None
        self._limit = None if limit is None else max(limit, 100_000)
        super()._read()
        self._limit = limit


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.terminals.terminal = Head


if __name__ == "__main__":
    main(Client)
