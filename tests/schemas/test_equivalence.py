"""Our schemas accept and refuse exactly what the official ones do: every definition, generated and mutated instances.

The official schema is read as it is, with one rule: an integer `format` is asserted as its range, since validators
do not check `format`. Instances come from the official file alone, so a member we lost would show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from reference.official import with_ranges
from strategies.instances import EVERY_CHANGE, changed, fullest, mutated, places, strategy

from acp_agent.protocol import schema as ours

# A third of what the chosen Hypothesis profile asks for, since that is for each of 178 definitions.
PROFILE = settings(
    max_examples=max(1, settings().max_examples // 3),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
DEFINITIONS = ours.definitions()
ANYTHING = {"ExtRequest", "ExtResponse", "ExtNotification"}

Schema = dict[str, Any]

# --- the oracle ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def oracle(official_schema: Schema) -> Callable[[str], Callable[[object], bool]]:
    definitions = with_ranges(official_schema["$defs"])
    made: dict[str, Callable[[object], bool]] = {}

    def of(name: str) -> Callable[[object], bool]:
        if name not in made:
            document = {"$ref": f"#/$defs/{name}", "$defs": definitions}
            made[name] = Draft202012Validator(document).is_valid
        return made[name]

    return of


# --- the tests ----------------------------------------------------------------------------------------------


def test_the_definitions_are_the_official_ones(official_schema: Schema) -> None:
    """Requirement: all 178 definitions, no more and no fewer."""
    assert set(DEFINITIONS) == set(official_schema["$defs"])
    assert len(DEFINITIONS) == 178


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_every_single_change_to_a_full_instance_is_judged_alike(
    definition: str, official_schema: Schema, oracle: Callable[[str], Callable[[object], bool]]
) -> None:
    """Equivalence, systematically: every place of the fullest instances, every kind of change."""
    accepts = oracle(definition)
    verdicts = set()
    for full in fullest(official_schema["$defs"][definition], official_schema["$defs"]):
        assert accepts(full), "the generator must start from valid instances"
        assert ours.is_valid(definition, full)
        verdicts.add(True)
        for path in places(full, depth=2):  # deeper ones are another definition's own
            for change in EVERY_CHANGE:
                value = changed(full, path, change)
                expected = accepts(value)
                verdicts.add(expected)
                assert ours.is_valid(definition, value) == expected, value
    assert verdicts == ({True} if definition in ANYTHING else {True, False})


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_generated_and_mutated_instances_are_judged_alike(
    definition: str, official_schema: Schema, oracle: Callable[[str], Callable[[object], bool]]
) -> None:
    """Equivalence, at random: combinations of members and branches, up to two changes."""
    accepts = oracle(definition)
    definitions = official_schema["$defs"]

    @PROFILE
    @given(mutated(strategy(definitions[definition], definitions)))
    def agree(value: object) -> None:
        assert ours.is_valid(definition, value) == accepts(value)

    agree()


@PROFILE
@given(st.data())
def test_jsonschema_is_of_the_same_opinion_as_jsonschema_rs(
    official_schema: Schema, data: st.DataObject
) -> None:
    """The second opinion: an unrelated validator on our schemas says what the deciding one says."""
    definition = data.draw(st.sampled_from(DEFINITIONS))
    definitions = official_schema["$defs"]
    value = data.draw(mutated(strategy(definitions[definition], definitions)))
    second = jsonschema.Draft202012Validator(ours.document(definition))
    assert second.is_valid(value) == ours.is_valid(definition, value)
