"""Valid instances of the bundled definitions, drawn from the schemas themselves.

Relies on the normal form of `schemas/derive.py`, as protocol/fragments.py does: `$ref` beside other keywords, `anyOf`
the only union, `x-discriminator`. Optional members come and go, and are null where that is allowed.
Deliberately absent: what fits together across members (ids that exist, paths that are absolute): whoever sends an
instance knows that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st

from acp_agent.fuzzing.strategies.text import ENCODABLE
from acp_agent.protocol import schema
from acp_agent.protocol.fragments import Fragment

_DEEPEST: Final = 5
_JUNK: Final = st.sampled_from((None, True, 0, "", "x", [], {}, [None], {"x": 1}))


def instances(definition: str, text: st.SearchStrategy[str] = ENCODABLE) -> st.SearchStrategy[Any]:
    """Valid instances of a definition. text: what its strings hold. Raises KeyError if there is no such definition."""
    fragment: Fragment = {"$ref": f"#/$defs/{definition}"}
    schema.node(definition)
    return _of(fragment, text, 0).filter(lambda value: schema.is_valid(definition, value))


def _of(fragment: Fragment, text: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[Any]:
    if "const" in fragment:
        return st.just(fragment["const"])
    if "enum" in fragment:
        return st.sampled_from(fragment["enum"])
    layers: list[st.SearchStrategy[Any]] = []
    if "$ref" in fragment:
        target = schema.node(schema.name_of(fragment["$ref"]))
        layers.append(st.deferred(lambda: _of(target, text, depth + 1)))
    if "type" in fragment:
        kinds = [fragment["type"]] if isinstance(fragment["type"], str) else fragment["type"]
        layers.append(st.one_of([_typed(kind, fragment, text, depth) for kind in kinds]))
    if "anyOf" in fragment:
        layers.append(st.one_of([_of(branch, text, depth + 1) for branch in fragment["anyOf"]]))
    if not layers:
        return _JUNK
    merged = layers[0]
    for layer in layers[1:]:
        merged = st.builds(_merge, merged, layer)
    return merged


def _typed(kind: str, fragment: Fragment, text: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[Any]:
    match kind:
        case "object":
            return _object(fragment, text, depth)
        case "array":
            most = 0 if depth > _DEEPEST else 3
            return st.lists(_of(fragment["items"], text, depth + 1), max_size=most)
        case "string":
            return text.filter(bool) if fragment.get("minLength") else text
        case "integer":
            return st.integers(fragment.get("minimum", -1000), fragment.get("maximum", 2**31 - 1))
        case "number":
            return st.floats(0, 1e9, allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case _:
            return st.none()


def _object(
    fragment: Fragment, text: st.SearchStrategy[str], depth: int
) -> st.SearchStrategy[dict[str, Any]]:
    required = set(fragment.get("required", ()))
    members = {
        name: _of(inner, text, depth + 1)
        for name, inner in fragment.get("properties", {}).items()
        if not (depth > _DEEPEST and name not in required)
    }
    return st.fixed_dictionaries(
        {name: member for name, member in members.items() if name in required},
        optional={name: member for name, member in members.items() if name not in required},
    )


def _merge(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {**first, **second}
    return second
