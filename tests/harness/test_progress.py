"""The line that shows how far a run is stays one line, and is gone at the end."""

from __future__ import annotations

import io

import pytest

from acp_agent.harness.catalogue import select
from acp_agent.harness.progress import Progress
from acp_agent.harness.result import ClientExit, ScenarioResult, judge


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def result_of(id_: str) -> ScenarioResult:
    """A scenario whose client never started the agent."""
    (scenario,) = select([id_])
    return judge(scenario, [], ClientExit(), None)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """In the last column some terminals wrap already."""
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    with Progress(210, terminal) as progress:
        progress.advance(result_of("permission/cancel-with-several-open"))
    lines = [line.removeprefix("\x1b[K") for line in terminal.getvalue().split("\r")]
    assert max(map(len, lines)) < columns
    assert any("1/210" in line for line in lines)
    whole = "permission/cancel-with-several-open: not exercised"
    assert any(line.endswith(whole) for line in lines) is (columns == 200)


def test_the_line_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed next begins in a clean line."""
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    with Progress(2, terminal):
        pass
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_nobody_looks() -> None:
    """In a pipe or a log."""
    pipe = io.StringIO()
    with Progress(2, pipe) as progress:
        progress.advance(result_of("setup/plain-conversation"))
    assert pipe.getvalue() == ""


@pytest.mark.parametrize("total", [0, 1, 4])
def test_the_bar_grows_to_its_end(monkeypatch: pytest.MonkeyPatch, total: int) -> None:
    """A run of nothing is no division by zero."""
    monkeypatch.setenv("COLUMNS", "200")
    terminal = Terminal()
    with Progress(total, terminal) as progress:
        for _ in range(total):
            progress.advance(result_of("setup/plain-conversation"))
    bars = [line.partition("]")[0].count("#") for line in terminal.getvalue().split("\r") if "]" in line]
    assert len(bars) == total + 1
    assert bars == sorted(bars)
    assert total == 0 or (bars[0], bars[-1]) == (0, max(bars))
