"""The rules as data: complete where the core or the notes need them, and worded for people."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from acp_agent.protocol.methods import Side
from acp_agent.protocol.rules import RULES, SLUG_RULES, Tier
from acp_agent.protocol.verdicts import REASONS


def test_every_verdict_slug_belongs_to_a_rule() -> None:
    """A finding that breaks no rule would be an opinion; a rule that does not exist would be a typing error."""
    assert SLUG_RULES.keys() == REASONS.keys()
    assert [rule for rules in SLUG_RULES.values() for rule in rules if rule not in RULES] == []
    assert all(SLUG_RULES.values())


@pytest.mark.parametrize("id_", list(RULES))
def test_a_rule_is_one_sentence_with_an_id_and_a_page(id_: str) -> None:
    """What a report prints: an id of the notes, a whole sentence that stands alone, where it comes from."""
    rule = RULES[id_]
    assert rule.id == id_
    assert re.fullmatch(r"R-\d{3}", id_)
    assert re.fullmatch(r"[A-Za-z$_].*\.", rule.sentence)
    assert len(rule.sentence) <= 160
    assert re.fullmatch(r"[a-z-]+", rule.page)


def test_ids_are_in_order() -> None:
    """A person finds a rule by its number."""
    assert list(RULES) == sorted(RULES)


def test_all_robustness_rules_are_there_and_decide_nothing() -> None:
    """R-301 to R-320 are the project's own: SHOULD or INFO, so that they alone make nobody non-conformant."""
    own = [rule for rule in RULES.values() if rule.id >= "R-301"]
    assert [rule.id for rule in own] == [f"R-{number}" for number in range(301, 321)]
    assert not any(rule.tier.decides for rule in own)


def test_only_must_and_capability_decide() -> None:
    """A SHOULD is reported and weighed by people."""
    assert [tier for tier in Tier if tier.decides] == [Tier.MUST, Tier.CAPABILITY]


def test_a_rule_for_both_binds_either_side() -> None:
    """R-016 holds for agents and clients, R-154 for clients alone."""
    assert RULES["R-016"].binds(Side.AGENT)
    assert RULES["R-016"].binds(Side.CLIENT)
    assert RULES["R-154"].binds(Side.CLIENT)
    assert not RULES["R-154"].binds(Side.AGENT)


def test_the_file_is_read_at_the_first_look() -> None:
    """Importing the registry costs an agent's start nothing."""
    program = (
        "import sys, acp_agent.protocol.rules as rules\n"
        "before = 'tomllib' in sys.modules\n"
        "print(before, len(rules.RULES) > 100)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
