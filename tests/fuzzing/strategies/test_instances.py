"""Instances that are drawn from the bundled schemas are valid, for every definition, with odd texts too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_agent.fuzzing.strategies.instances import instances
from acp_agent.protocol import schema
from acp_agent.protocol.methods import METHODS


@pytest.mark.parametrize("definition", sorted({method.params for method in METHODS.values()}))
@given(data=st.data())
@settings(max_examples=10)
def test_params_are_valid(definition: str, data: st.DataObject) -> None:
    """The validator that the product uses says so."""
    assert schema.is_valid(definition, data.draw(instances(definition)))


def test_a_definition_that_does_not_exist_is_a_key_error() -> None:
    """At once, and not when something is drawn."""
    with pytest.raises(KeyError):
        instances("NoSuchDefinition")
