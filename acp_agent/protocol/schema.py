"""The bundled JSON Schemas, compiled: one validator a definition, made when it is first asked for.

`jsonschema-rs` decides; nothing here explains a refusal (`validation.py` does) or tolerates one (`leniency.py`).
A validator is compiled over the definitions it can reach and no others, so a start that only sees `initialize`
does not pay for the rest.

Source: `schemas/acp/v1/*.json`; `schemas/README.md` says how they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from acp_agent import bundled

_ACP = "acp/v1"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

# What a validator raises for a value that is not JSON, cannot be UTF-8 or is nested too deep to follow.
_UNHOLDABLE = (ValueError, TypeError, RecursionError, OverflowError)

Decide = Callable[[Any], bool]
_compiled: dict[str, Decide] = {}
_pieces: dict[int, Decide] = {}


def is_valid(definition: str, value: object) -> bool:
    """Whether `value` (decoded JSON) is an instance of `definition`, a name such as "PromptRequest".

    What makes the validator give up (nested too deep, not JSON) is not valid, and never an exception. That
    strings can be written as UTF-8 is not judged here: the codec refuses those that cannot.
    Raises KeyError for a definition that does not exist.
    """
    decide = _compiled.get(definition)
    if decide is None:
        decide = _compiled[definition] = _compile(document(definition))
    try:  # as _decided, without a call more on the path of every message
        return decide(value)
    except _UNHOLDABLE:
        return False


def is_valid_document(relative_path: str, value: object) -> bool:
    """Whether `value` satisfies a bundled schema that is one file, such as "session.json"."""
    decide = _compiled.get(relative_path)
    if decide is None:
        decide = _compiled[relative_path] = _compile(bundled.load(relative_path))
    return _decided(decide, value)


def fits(fragment: dict[str, Any], value: object) -> bool:
    """Whether `value` satisfies a piece of a bundled schema, such as one member's. For the paths after a refusal.

    fragment: a dict found inside what `node` returns, itself and not a copy: it is compiled once by identity.
    """
    decide = _pieces.get(id(fragment))
    if decide is None:
        decide = _pieces[id(fragment)] = _compile(_closed(fragment))
    return _decided(decide, value)


def _compile(schema: dict[str, Any]) -> Decide:
    return Draft202012Validator(schema).is_valid


def _decided(decide: Decide, value: object) -> bool:
    try:
        return decide(value)
    except _UNHOLDABLE:
        return False


def document(definition: str) -> dict[str, Any]:
    """A self-contained schema of `definition`: `$ref` to it, and in `$defs` everything it can reach.

    Raises KeyError for a definition that does not exist.
    """
    return _closed({"$ref": f"#/$defs/{definition}"})


def node(definition: str) -> dict[str, Any]:
    """The schema of one definition as it stands in its file. Not to be changed.

    Raises KeyError for a definition that does not exist.
    """
    found: dict[str, Any] = bundled.load(f"{_ACP}/{_homes()[definition]}")["$defs"][definition]
    return found


def definitions() -> tuple[str, ...]:
    """The names of all definitions, sorted."""
    return tuple(_homes())


def name_of(reference: str) -> str:
    """The definition that a `$ref` of the bundled files names: "content.json#/$defs/Role" -> "Role"."""
    return reference.rpartition("/")[2]


@cache
def _homes() -> dict[str, str]:
    homes: dict[str, str] = bundled.load(f"{_ACP}/index.json")["definitions"]
    return homes


def _closed(fragment: dict[str, Any]) -> dict[str, Any]:
    """`fragment` as a document of its own, with all definitions it can reach."""
    waiting: list[str] = []
    result: dict[str, Any] = {"$schema": _DIALECT, **_local(fragment, waiting)}
    reached: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = _local(node(name), waiting)
    return {**result, "$defs": reached}


def _local(schema: Any, found: list[str]) -> Any:
    """A copy with every reference inside this document; appends the names that are referred to."""
    if isinstance(schema, dict):
        copied = {key: _local(value, found) for key, value in schema.items()}
        if isinstance(schema.get("$ref"), str):
            name = name_of(schema["$ref"])
            found.append(name)
            copied["$ref"] = f"#/$defs/{name}"
        return copied
    if isinstance(schema, list):
        return [_local(value, found) for value in schema]
    return schema
