"""The registry of invariants: complete, about rules that bind agents, and shapes that tell kinds apart."""

from __future__ import annotations

from acp_agent.fuzzing.invariants import INVARIANTS, Invariant, found, kind_of
from acp_agent.protocol.methods import Side
from acp_agent.protocol.rules import RULES


def test_every_invariant_has_a_rule_that_binds_agents() -> None:
    """And a phrase for what is looked for."""
    assert INVARIANTS.keys() == set(Invariant)
    for rule, phrase in INVARIANTS.values():
        assert RULES[rule].binds(Side.AGENT), rule
        assert phrase


def test_a_finding_is_told_apart_by_its_detail_and_not_by_what_was_seen() -> None:
    """Two requests without an answer are one find for each method."""
    first = found(Invariant.ANSWERED, "not in 3 s", 7, "session/list")
    again = found(Invariant.ANSWERED, "not in 4 s", 9, "session/list")
    other = found(Invariant.ANSWERED, "not in 3 s", 7, "session/new")
    assert first.key == again.key == ("R-016", "answered:session/list")
    assert other.key != first.key


def test_the_kind_of_an_update_is_read_from_anything() -> None:
    """A message of a broken agent is no safe ground."""
    assert kind_of({"params": {"update": {"sessionUpdate": "plan"}}}) == "plan"
    for odd in (
        None,
        [],
        {"params": []},
        {"params": {"update": "x"}},
        {"params": {"update": {"sessionUpdate": 1}}},
    ):
        assert kind_of(odd) == ""
