"""What a terminal shows: the table, the failures, the conclusion last; no wider than the screen, no one's controls."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.report import Run
from acp_agent.harness.terminal import Screen, print_list, print_rule, print_run, print_scenario
from acp_agent.harness.verdict import Check

if TYPE_CHECKING:
    from conftest import Maker


def shown(run: Run, *, width: int = 80, colours: bool = False) -> str:
    out = io.StringIO()
    print_run(run, Screen(out, width=width, colours=colours))
    return out.getvalue()


def test_a_run_is_a_table_its_failures_and_a_conclusion(all_sorts: Run) -> None:
    """In this order: what scrolls away first is what matters least."""
    lines = shown(all_sorts).splitlines()
    assert lines[0].split() == ["pass", "FAIL", "not", "exercised", "not", "applicable"]
    assert lines[1].split() == ["area", "1", "2", "-", "-"]
    assert lines[3].split() == ["total", "2", "2", "3", "1"]
    text = "\n".join(lines)
    order = [
        "FAIL area/fails",
        "      expected  an answer",
        "      saw       nothing",
        "advice area/advises",
        "note other/notes",
        "not exercised: nobody pressed Stop",
        "not applicable: no terminals",
        "other/broken: the harness failed in the script. This is a fault of the harness.",
        "Broken: R-154",
        "Advice not followed: R-029, R-301, R-316",
    ]
    positions = [text.find(words) for words in order]
    assert positions == sorted(positions)
    assert -1 not in positions
    assert lines[-1] == "The client is not conformant. Of 9 scenarios 8 were played."


def test_colours_only_where_they_are_wanted(all_sorts: Run) -> None:
    """A file and NO_COLOR get plain text, the same text."""
    plain, coloured = shown(all_sorts), shown(all_sorts, colours=True)
    assert "\x1b" not in plain
    assert "\x1b[31mFAIL\x1b[0m" in coloured


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_no_line_is_wider_than_the_screen(all_sorts: Run, width: int) -> None:
    """Below 40 columns there is no use in wrapping."""
    assert max(map(len, shown(all_sorts, width=width).splitlines())) <= max(60, width)


def test_what_a_client_sent_does_not_reach_the_terminal_as_a_command(maker: Maker) -> None:
    """An escape sequence in a message must not clear somebody's screen."""
    maker.add("area/evil", [Check("R-154", False, "a", "\x1b[2J\x07" + "y" * 5000)])
    text = shown(maker.run())
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text) < 1500


def test_a_hundred_failures_of_a_rule_are_three_and_a_number(maker: Maker) -> None:
    """A person has read enough after three."""
    maker.add("area/again", [Check("R-154", False, "a", f"time {n}") for n in range(100)])
    text = shown(maker.run())
    assert "time 2" in text
    assert "time 3" not in text
    assert "and 97 more like it" in text


@pytest.mark.parametrize("width", [80, 140])
def test_the_list_has_every_scenario_under_its_area(width: int) -> None:
    """Ids in a column, titles beside or below."""
    out = io.StringIO()
    print_list(all_scenarios(), Screen(out, width=width))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for scenario in all_scenarios():
        assert scenario.area in lines
        assert any(line.split()[:1] == [scenario.id] for line in lines)


def test_a_scenario_and_a_rule_tell_of_each_other() -> None:
    """A scenario names its rules, a rule its scenarios."""
    out = io.StringIO()
    for scenario in all_scenarios():
        print_scenario(scenario, Screen(out))
    assert "R-154 MUST:" in out.getvalue()
    rule = io.StringIO()
    assert print_rule("R-154", Screen(rule))
    assert "permission/cancel-while-open" in rule.getvalue()
    assert not print_rule("R-999", Screen(rule))
