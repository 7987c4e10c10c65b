"""The bundled JSON Schemas, compiled: one validator a definition, made when it is first asked for.

`jsonschema-rs` decides; nothing here explains a refusal (`validation.py` does) or tolerates one (`leniency.py`).
A validator is compiled over the definitions it can reach and no others, so a start that only sees `initialize`
does not pay for the rest. The files are inside the package when installed, beside it in a checkout.

Source: `schemas/acp/v1/*.json`; `schemas/README.md` says how they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jsonschema_rs import Draft202012Validator

_PACKAGE = Path(__file__).resolve().parent.parent
_ACP = "acp/v1"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

# What a validator raises for a value that is not JSON, cannot be UTF-8 or is nested too deep to follow.
_UNHOLDABLE = (ValueError, TypeError, RecursionError, OverflowError)

_compiled: dict[str, Callable[[Any], bool]] = {}
_pieces: dict[int, Callable[[Any], bool]] = {}


def is_valid(definition: str, value: object) -> bool:
    """Whether `value` (decoded JSON) is an instance of `definition`, a name such as "PromptRequest".

    What makes the validator give up (nested too deep, not JSON) is not valid, and never an exception. That
    strings can be written as UTF-8 is not judged here: the codec refuses those that cannot.
    Raises KeyError for a definition that does not exist.
    """
    decide = _compiled.get(definition)
    if decide is None:
        decide = _compiled[definition] = Draft202012Validator(document(definition)).is_valid
    try:
        return decide(value)
    except _UNHOLDABLE:
        return False


def is_valid_document(relative_path: str, value: object) -> bool:
    """Whether `value` satisfies a bundled schema that is one file, such as "config.json"."""
    decide = _compiled.get(relative_path)
    if decide is None:
        decide = _compiled[relative_path] = Draft202012Validator(load(relative_path)).is_valid
    try:
        return decide(value)
    except _UNHOLDABLE:
        return False


def fits(fragment: dict[str, Any], value: object) -> bool:
    """Whether `value` satisfies a piece of a bundled schema, such as one member's. For the paths after a refusal.

    fragment: a dict found inside what `node` returns, itself and not a copy: it is compiled once by identity.
    """
    decide = _pieces.get(id(fragment))
    if decide is None:
        decide = _pieces[id(fragment)] = Draft202012Validator(_closed(fragment)).is_valid
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
    found: dict[str, Any] = load(f"{_ACP}/{_homes()[definition]}")["$defs"][definition]
    return found


def definitions() -> tuple[str, ...]:
    """The names of all definitions, sorted."""
    return tuple(_homes())


def name_of(reference: str) -> str:
    """The definition that a `$ref` of the bundled files names: "content.json#/$defs/Role" -> "Role"."""
    return reference.rpartition("/")[2]


@cache
def load(relative_path: str) -> dict[str, Any]:
    """One bundled file, parsed; `relative_path` is below `schemas/`. The result is shared: not to be changed.

    Raises FileNotFoundError if there is no such file.
    """
    content: dict[str, Any] = orjson.loads((_root() / relative_path).read_bytes())
    return content


@cache
def _root() -> Path:
    installed = _PACKAGE / "schemas"
    return installed if installed.is_dir() else _PACKAGE.parent / "schemas"


@cache
def _homes() -> dict[str, str]:
    homes: dict[str, str] = load(f"{_ACP}/index.json")["definitions"]
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
