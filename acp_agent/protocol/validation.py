"""Why a value is not what the protocol asks for, in words a person can act on; and what it has that was not asked.

`jsonschema-rs` decides (`schema.py`). Only after its no does `jsonschema` look, one place at a time: the branch of
a union is picked by its discriminator, members and items that are fine are passed over with the fast validator,
so the work stays in proportion also for a huge value. The peer's values are never repeated, only where and what.
Leniency is not here: see `leniency.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from acp_agent.protocol import schema
from acp_agent.protocol.fragments import (
    Fragment,
    branches,
    parts,
    pointer,
    tag_of,
    takes_anything,
    takes_type_of,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a value.

    path: JSON pointer to the place, "" for the whole value.
    expected: what should be there, such as `a string`, `one of "read", "edit"`, `the member "cwd"`.
    """

    path: str
    expected: str

    def __str__(self) -> str:
        return f"expected {self.expected} at {self.path or 'the top level'}"


def check(definition: str, value: object) -> Problem | None:
    """None if `value` is an instance of `definition`, else the first problem found, as deep as it can be placed.

    Raises KeyError for a definition that does not exist.
    """
    if schema.is_valid(definition, value):
        return None
    reference = {"$ref": f"#/$defs/{definition}"}
    return _explain(reference, value, "") or Problem("", f"a valid {definition}")


def unknown_members(definition: str, value: object) -> list[str]:
    """JSON pointers of members that the schema does not name, for a value that is valid. Strict mode only.

    Such members are legal to receive and not to send (R-249). What may hold anything is not looked into: `_meta`,
    `rawInput`, `rawOutput`, the `data` of an error, extension types, and custom elicitation modes, types, actions.
    """
    return list(_unknown(schema.node(definition), value, ""))


# --- why not ------------------------------------------------------------------------------------------------

# What jsonschema is asked about at one place; members, items and unions are followed here.
_LOCAL = ("type", "enum", "const", "not", "minLength", "minimum", "maximum", "required")


def _explain(fragment: Fragment, value: object, path: str) -> Problem | None:
    for part in parts(fragment):
        problem = _local_problem(part, value, path)
        if problem:
            return problem
    for part in parts(fragment):
        for inner, item, step in _children(part, value):
            if not schema.fits(inner, item):
                below = pointer(path, step)
                return _explain(inner, item, below) or Problem(below, _words(inner))
    for part in parts(fragment):
        if "anyOf" in part and not any(schema.fits(branch, value) for branch in part["anyOf"]):
            return _explain_union(part, value, path)
    return None


def _local_problem(part: Fragment, value: object, path: str) -> Problem | None:
    # Deferred: jsonschema takes longer to import than everything else here, and a correct peer never needs it.
    from jsonschema import Draft202012Validator

    keywords = {key: part[key] for key in _LOCAL if key in part}
    for error in Draft202012Validator(keywords).iter_errors(value):
        if error.validator == "required" and isinstance(value, Mapping):
            missing = next(name for name in part["required"] if name not in value)
            return Problem(path, f'the member "{missing}"')
        return Problem(path, _words(part))
    return None


def _children(part: Fragment, value: object) -> Iterator[tuple[Fragment, object, str | int]]:
    """Every (schema, value, step) one level down that the part speaks about."""
    if isinstance(value, Mapping):
        named = part.get("properties", {})
        for name, inner in named.items():
            if name in value:
                yield inner, value[name], name
        others = part.get("additionalProperties")
        if isinstance(others, dict):
            for name, item in value.items():
                if name not in named:
                    yield others, item, name
    elif isinstance(value, (list, tuple)) and "items" in part:
        for position, item in enumerate(value):
            yield part["items"], item, position


def _explain_union(union: Fragment, value: object, path: str) -> Problem:
    meant = branches(union, value)
    if not meant:
        return _no_branch(union, value, path)
    problems = [problem for branch in meant if (problem := _explain(branch, value, path))]
    if not problems:
        return Problem(path, _words(union))
    deepest = max(problem.path.count("/") for problem in problems)
    first, *more = [problem for problem in problems if problem.path.count("/") == deepest]
    wanted = dict.fromkeys(problem.expected for problem in (first, *more) if problem.path == first.path)
    return Problem(first.path, " or ".join(wanted))


def _no_branch(union: Fragment, value: object, path: str) -> Problem:
    discriminator = union.get("x-discriminator")
    if discriminator is None or not isinstance(value, Mapping):
        return Problem(path, _words(union))
    if discriminator not in value:
        return Problem(path, f'the member "{discriminator}"')
    tags = [tag_of(branch, discriminator) for branch in union["anyOf"]]
    if None in tags:
        return Problem(pointer(path, discriminator), "a string")
    return Problem(pointer(path, discriminator), _one_of(tags))


# --- words --------------------------------------------------------------------------------------------------

_TYPE_WORDS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def _words(fragment: Fragment) -> str:
    """What a fragment asks for, without its members: `an integer from 0 to 65535 or null`."""
    for part in parts(fragment):
        if "const" in part:
            return _one_of([part["const"]])
        if "enum" in part:
            return _one_of(part["enum"])
        if "type" in part:
            names = [part["type"]] if isinstance(part["type"], str) else part["type"]
            return _listed([_type_words(name, part) for name in names])
        if "anyOf" in part:
            return _listed(list(dict.fromkeys(_words(branch) for branch in part["anyOf"])))
    return "a valid value"


def _type_words(name: str, part: Fragment) -> str:
    if part.get("format") in ("int32", "int64") and name == "integer":
        return f"a {part['format'][3:]}-bit integer"
    if name == "integer" and "maximum" in part:
        return f"an integer from {part['minimum']} to {part['maximum']}"
    if name == "string" and "minLength" in part:
        return "a non-empty string"
    return _TYPE_WORDS[name]


def _one_of(values: list[Any]) -> str:
    quoted = [f'"{value}"' if isinstance(value, str) else str(value) for value in values]
    return quoted[0] if len(quoted) == 1 else f"one of {', '.join(quoted)}"


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


# --- strict mode --------------------------------------------------------------------------------------------


def _unknown(fragment: Fragment, value: object, path: str) -> Iterator[str]:
    reading = list(_read_as(fragment, value))
    if isinstance(value, Mapping) and _is_closed(reading):
        named = {name for part in reading for name in part.get("properties", ())}
        yield from (pointer(path, name) for name in value if name not in named)
    for part in reading:
        for inner, item, step in _children(part, value):
            yield from _unknown(inner, item, pointer(path, step))


def _read_as(fragment: Fragment, value: object) -> Iterator[Fragment]:
    """Everything that speaks about this value: the parts and, of unions, the branches that are meant and fit."""
    for part in parts(fragment):
        yield part
        if "anyOf" in part:
            meant = [branch for branch in branches(part, value) if schema.fits(branch, value)]
            if any(takes_anything(branch) for branch in meant):
                yield {"additionalProperties": True}
                continue
            for branch in meant:
                yield from _read_as(branch, value)
                if "$ref" not in branch and "x-discriminator" in part:
                    # A branch spelt out in place leaves the discriminator free (set_config_option's `type`).
                    yield {"properties": {part["x-discriminator"]: {}}}


def _is_closed(reading: list[Fragment]) -> bool:
    """Whether only named members belong here: it is said to be an object, and nothing invites other members."""
    says_object = any(takes_type_of(part, {}) and "type" in part for part in reading)
    return says_object and not any(part.get("additionalProperties") for part in reading)
