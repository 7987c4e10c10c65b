"""Reading a piece of a bundled schema against a value: what it is made of, and which branch of a union is meant.

Shared by what explains a refusal (`validation.py`) and what tolerates one (`leniency.py`). It decides nothing:
`schema.py` does. It relies on the normal form that `schemas/derive.py` writes (`$ref` beside other keywords,
`anyOf` the only union, `x-discriminator` naming the member that picks a branch), and on nothing else of JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from acp_agent.protocol import schema

Fragment = dict[str, Any]


def parts(fragment: Fragment) -> Iterator[Fragment]:
    """The fragment and, following its `$ref`, everything that holds at the same place in the value."""
    yield fragment
    reference = fragment.get("$ref")
    if reference is not None:
        yield from parts(schema.node(schema.name_of(reference)))


def tag_of(branch: Fragment, discriminator: str) -> object:
    """The value of the discriminator that means this branch; None if the branch has no fixed one."""
    member = branch.get("properties", {}).get(discriminator, {})
    return member.get("const") if isinstance(member, dict) else None


def takes_other_tags(branch: Fragment, discriminator: str) -> bool:
    """Whether this is the branch for every discriminator value that no other branch names."""
    return "not" in branch.get("properties", {}).get(discriminator, {})


def branches(union: Fragment, value: object) -> list[Fragment]:
    """The branches of a part with `anyOf` that can be meant by `value`; [] if its discriminator names none.

    With a discriminator that is one branch: by its value, else the one for other values, else the untagged one.
    Without, it is every branch that takes the JSON type of `value`.
    """
    discriminator = union.get("x-discriminator")
    if discriminator is None:
        return [branch for branch in union["anyOf"] if takes_type_of(branch, value)]
    if not isinstance(value, Mapping):
        return []
    tag = value.get(discriminator)
    if isinstance(tag, str):
        for branch in union["anyOf"]:
            if tag_of(branch, discriminator) == tag:
                return [branch]
        for branch in union["anyOf"]:
            if takes_other_tags(branch, discriminator):
                return [branch]
    return [
        branch
        for branch in union["anyOf"]
        if tag_of(branch, discriminator) is None and not takes_other_tags(branch, discriminator)
    ]


def types(fragment: Fragment) -> tuple[str, ...]:
    """The JSON type names a fragment allows; () if it does not say."""
    for part in parts(fragment):
        named = part.get("type")
        if named is not None:
            return (named,) if isinstance(named, str) else tuple(named)
    return ()


def takes_type_of(fragment: Fragment, value: object) -> bool:
    """Whether a value of that JSON type can be meant by the fragment at all."""
    allowed = types(fragment)
    if allowed:
        return type_name(value) in allowed or (type_name(value) == "integer" and "number" in allowed)
    unions = [part["anyOf"] for part in parts(fragment) if "anyOf" in part]
    return all(any(takes_type_of(branch, value) for branch in union) for union in unions)


def takes_anything(fragment: Fragment) -> bool:
    """Whether the fragment restricts nothing at all, as the types of extension messages do."""
    return all(part.keys() <= {"description", "$ref"} for part in parts(fragment))


def type_name(value: object) -> str:
    """The JSON type of a decoded value: null, boolean, integer, number, string, array or object."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) or value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def pointer(path: str, key: str | int) -> str:
    """A JSON pointer one step longer. A key of absurd length is cut: pointers end up in error messages."""
    step = str(key)
    if len(step) > _LONGEST_STEP:
        step = step[:_LONGEST_STEP] + "…"
    step = step.encode("utf-8", "replace").decode("utf-8")
    return f"{path}/{step.replace('~', '~0').replace('/', '~1')}"


_LONGEST_STEP = 80
