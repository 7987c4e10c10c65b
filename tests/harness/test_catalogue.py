"""The catalogue is complete: rules, scenarios and verdicts know of each other, and names find what they name."""

from __future__ import annotations

import pytest

from acp_agent.harness.catalogue import UnknownScenario, all_scenarios, select, unexercised
from acp_agent.harness.plan import is_plan
from acp_agent.protocol.methods import Side
from acp_agent.protocol.rules import RULES, SLUG_RULES
from acp_agent.protocol.verdicts import REASONS

EXERCISED = {rule for scenario in all_scenarios() for rule in scenario.all_rules}


def test_every_rule_that_binds_clients_is_exercised_or_says_why_not() -> None:
    """And none is both: a list of excuses must not outlive them."""
    binding = {rule.id for rule in RULES.values() if rule.binds(Side.CLIENT)}
    assert binding - EXERCISED == set(unexercised())
    assert all(reason.endswith(".") for reason in unexercised().values())


def test_every_scenario_names_rules_that_exist_and_bind_clients() -> None:
    """What only binds agents can't be held against a client."""
    assert all(RULES[rule].binds(Side.CLIENT) for rule in EXERCISED)


def test_every_verdict_is_about_a_rule() -> None:
    """A finding without one could not be reported."""
    assert set(SLUG_RULES) == set(REASONS)
    assert all(rule in RULES for rules in SLUG_RULES.values() for rule in rules)
    assert all(SLUG_RULES.values())


def test_there_are_scenarios_enough_and_each_tells_driver_and_person_the_same() -> None:
    """A plan for one and a sentence for the other; every plan follows its schema."""
    scenarios = all_scenarios()
    assert len(scenarios) >= 70
    assert len({scenario.command for scenario in scenarios}) == len(scenarios)
    for scenario in scenarios:
        assert is_plan(list(scenario.user)), scenario.id
        assert not scenario.user or scenario.wants_person, scenario.id
        assert scenario.ask.endswith("."), scenario.id
        assert not scenario.title.endswith("."), scenario.id


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("permission/reject", ["permission/reject"]),
        ("permission-reject", ["permission/reject"]),
        ("permission/cancel-w*", ["permission/cancel-while-open", "permission/cancel-with-several-open"]),
    ],
)
def test_a_name_finds_what_it_names(name: str, found: list[str]) -> None:
    """An id, a command, a pattern."""
    assert [scenario.id for scenario in select([name])] == found


def test_an_area_is_all_of_it_and_no_name_is_everything() -> None:
    """Each scenario once, however often it is named."""
    area = [scenario.id for scenario in select(["ids", "ids/strings"])]
    assert area == [scenario.id for scenario in all_scenarios() if scenario.area == "ids"]
    assert select([]) == all_scenarios()


def test_a_name_that_finds_nothing_is_one_sentence() -> None:
    """Which says where the names are."""
    with pytest.raises(UnknownScenario, match="there is no scenario 'nothing'; `harness list` shows them"):
        select(["ids", "nothing"])
