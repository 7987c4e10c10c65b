"""Both validators agree, a refusal is explained at a place that exists, and unknown members are just those.

No exception is documented. A problem is one line and does not repeat what the peer has sent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema
from strategies.own_instances import CASES, at, without

from acp_agent.protocol import schema, validation

cases = CASES


@cache
def _second_opinion(definition: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema.document(definition))


def check(case: Any) -> None:
    """Ask, explain, and take unknown members away."""
    definition, value = case["definition"], case["value"]
    valid = schema.is_valid(definition, value)
    if _is_encodable(value):
        assert valid == _second_opinion(definition).is_valid(value)
    problem = validation.check(definition, value)
    assert (problem is None) == valid
    if problem is not None:
        assert "\n" not in str(problem)
        assert problem.expected
        str(problem).encode()
        _leads_somewhere(value, problem.path)
        return
    unknown = validation.unknown_members(definition, value)
    assert len(set(unknown)) == len(unknown)
    # From the last on, so that no place moves; what is inside of an unknown member is not looked at again.
    for pointer in sorted(unknown, reverse=True):
        at(value, pointer)
        value = without(value, pointer)
    assert schema.is_valid(definition, value)
    assert validation.unknown_members(definition, value) == []


def _is_encodable(value: Any) -> bool:
    try:
        repr(value).encode()
    except UnicodeEncodeError:
        return False
    return "\\ud" not in repr(value)


def _leads_somewhere(value: Any, pointer: str) -> None:
    """The place itself or, for a discriminator that is missing, the object it should be in."""
    try:
        at(value, pointer)
    except LookupError:
        at(value, pointer.rpartition("/")[0])
