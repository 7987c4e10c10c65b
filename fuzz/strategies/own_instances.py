"""Instances of our own schemas, changed a little: what is valid, nearly valid, or was meant to be."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from strategies.instances import mutated, strategy
from strategies.json_values import ODD_VALUES

from acp_agent.protocol import schema


@cache
def instances(definition: str) -> st.SearchStrategy[Any]:
    """Mostly instances of a definition, up to two changes away; now and then anything."""
    document = schema.document(definition)
    near = mutated(strategy(document, document["$defs"]))
    return st.one_of([near] * 9 + [ODD_VALUES])


CASES = st.sampled_from(schema.definitions()).flatmap(
    lambda name: st.fixed_dictionaries(
        {"definition": st.just(name), "value": st.deferred(lambda: instances(name))}
    )
)
"""The name of a definition, and a value."""


def at(value: Any, pointer: str) -> Any:
    """What a JSON pointer leads to. Raises LookupError where it leads nowhere."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def without(value: Any, pointer: str) -> Any:
    """A copy of the value without the member or item that a JSON pointer leads to."""
    step, _, rest = pointer[1:].partition("/")
    step = step.replace("~1", "/").replace("~0", "~")
    key: Any = int(step) if isinstance(value, list) else step
    copied = list(value) if isinstance(value, list) else dict(value)
    if rest:
        copied[key] = without(value[key], f"/{rest}")
    else:
        del copied[key]
    return copied
