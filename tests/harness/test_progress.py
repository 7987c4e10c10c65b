"""The progress line: on a terminal, one that is gone at the end; nothing anywhere else."""

from __future__ import annotations

import io

import pytest

from acp_agent.harness.progress import Progress


class Screen(io.StringIO):
    """A stream that is a terminal, or is not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def played(screen: Screen, maker: object, total: int = 4) -> list[str]:
    """What the line showed, one text a time that it was drawn."""
    with Progress(total, screen) as progress:
        for number in range(total):
            progress.advance(maker.add(f"area/{number}"))  # type: ignore[attr-defined]
    return screen.getvalue().split("\r\x1b[K")


def test_on_a_terminal_the_bar_grows_and_is_wiped_away(maker: object) -> None:
    """The last thing written leaves the line empty."""
    shown = played(Screen(terminal=True), maker)
    assert [line.partition("]")[0].count("#") for line in shown[1:-1]] == [0, 6, 12, 18, 24]
    assert shown[2].endswith("1/4 area/0: pass")
    assert shown[-1] == ""


def test_in_a_file_there_is_nothing(maker: object) -> None:
    """A log is no place for a bar."""
    assert played(Screen(terminal=False), maker) == [""]


@pytest.mark.parametrize("total", [0, 1])
def test_a_run_of_nothing_is_no_division_by_zero(maker: object, total: int) -> None:
    """Nor is one of one scenario."""
    assert len(played(Screen(terminal=True), maker, total)) == total + 3
