"""A line that shows how far a run is, on a terminal; nothing anywhere else."""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import Final, Self, TextIO

from acp_agent.harness.result import ScenarioResult

_BAR: Final = 24


class Progress:
    """Counts results. total: how many there will be."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._done = 0
        self._stream = stream
        self._shown = stream.isatty()

    def advance(self, result: ScenarioResult) -> None:
        """One more is there."""
        self._done += 1
        self._show(f"{result.scenario.id}: {result.verdict}")

    def _show(self, label: str) -> None:
        if self._shown:
            filled = _BAR * self._done // max(1, self._total)
            bar = "#" * filled + "-" * (_BAR - filled)
            line = f"[{bar}] {self._done}/{self._total} {label}"
            # A line that wraps cannot be taken back: the next one would leave half of it standing.
            self._stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
            self._stream.flush()

    def __enter__(self) -> Self:
        self._show("")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
