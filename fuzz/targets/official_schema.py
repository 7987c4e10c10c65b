"""Our schemas accept and refuse exactly what the official ones do.

Instances come from the official file, so what ours has lost would show. No exception is documented.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from reference.official import definitions, validator
from strategies.instances import mutated, strategy

from acp_agent.protocol import schema


@cache
def _instances(definition: str) -> st.SearchStrategy[Any]:
    return mutated(strategy(definitions()[definition], definitions()))


cases = st.sampled_from(schema.definitions()).flatmap(
    lambda name: st.fixed_dictionaries(
        {"definition": st.just(name), "value": st.deferred(lambda: _instances(name))}
    )
)


def check(case: Any) -> None:
    """Ask both."""
    definition, value = case["definition"], case["value"]
    assert schema.is_valid(definition, value) == validator(definition)(value)
