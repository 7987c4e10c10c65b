"""What is said in an editor is Markdown that a client's messages cannot break."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_agent.harness import chat
from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.report import Run
from acp_agent.harness.verdict import Check
from acp_agent.protocol import schema

if TYPE_CHECKING:
    from conftest import Maker


def test_the_menu_is_a_legal_list_without_a_name_twice() -> None:
    """Areas, scenarios and the commands of the menu itself share one space of names."""
    commands = chat.commands(all_scenarios(), "latest")
    assert all(schema.is_valid("AvailableCommand", command) for command in commands)
    names = [command["name"] for command in commands]
    assert len(names) == len(set(names))
    assert len(names) > len(all_scenarios())


def test_each_verdict_has_its_line(all_sorts: Run) -> None:
    """And what is not a pass says why."""
    said = [chat.verdict(result) for result in all_sorts.results]
    assert "✅ **pass** `area/passes`: 1 rule kept" in said[0]
    assert "❌ **FAIL** `area/fails`" in said[1]
    assert "expected: an answer" in said[1]
    assert "⚪ **not exercised** `other/waits`: nobody pressed Stop" in said[4]
    assert "➖ **not applicable** `other/lacks`: no terminals" in said[5]
    assert "fault of the harness" in said[6]


@pytest.mark.parametrize("saw", ["`", "``a``", "a\n# heading\n", "*b* _c_ <d>", "x" * 5000])
def test_what_was_seen_stays_inside_its_code(saw: str, maker: Maker) -> None:
    """Backticks and line ends of a message do not end the span."""
    text = chat.verdict(maker.add("area/evil", [Check("R-154", False, "a", saw)]))
    line = next(line for line in text.splitlines() if "seen:" in line)
    code = line.partition("seen: ")[2]
    fence = code[: len(code) - len(code.lstrip("`"))]
    assert code.endswith(fence)
    assert fence not in code[len(fence) : -len(fence)]
    assert len(text) < 900


def test_the_overview_has_a_table_the_failures_and_the_conclusion(all_sorts: Run) -> None:
    """As the terminal has it, in a chat."""
    text = chat.overview(all_sorts, Path("report.html"))
    assert "| area | 1 | 2 |  |  |" in text
    assert "- ❌ `area/fails`: R-154, R-301" in text
    assert "The client is **not conformant**; 8 of 9 scenarios were played." in text
    assert "report.html" in text
