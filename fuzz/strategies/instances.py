"""Instances of the definitions of a schema, valid to begin with, and changes to them.

Made for the official schema, so that nothing which ours has lost is missing here; ours has the same keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]
Path = tuple[str | int, ...]

EDGES = [0, 1, -1, *(base + step for base in (2**15, 2**16, 2**31, 2**32, 2**63, 2**64) for step in (-1, 0))]
EDGES += [-edge for edge in EDGES[3:]] + [-(2**31) - 1, -(2**63) - 1]
NUMBERS = [*EDGES, 0.0, -0.0, 1.0, 1.5, 1e300, 65535.0, 65536.0, 4294967296.0, 2.0**63, 2.0**64, -(2.0**63)]
JUNK: list[Any] = [
    None,
    True,
    False,
    "",
    "x",
    [],
    {},
    [None],
    [{}],
    ["x"],
    {"x": {}},
    {"type": "text"},
    *NUMBERS,
]
EXTRA = {
    "_x": {"y": 1},
    "zz": None,
    "type": "other",
    "sessionId": "s",
    "requestId": 1,
    "text": "t",
    "blob": "b",
}


def _merged(first: object, second: object) -> object:
    return {**first, **second} if isinstance(first, dict) and isinstance(second, dict) else second


def _union(node: Schema) -> list[Schema] | None:
    found: list[Schema] | None = node.get("oneOf") or node.get("anyOf")
    return found


def strategy(node: Schema, definitions: dict[str, Schema]) -> st.SearchStrategy[Any]:
    """Mostly valid instances: what is beside a union is merged with one of its branches."""
    if "const" in node:
        return st.just(node["const"])
    layers = []
    if "$ref" in node:
        layers.append(strategy(definitions[node["$ref"].rpartition("/")[2]], definitions))
    kinds = node.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds:
        layers.append(st.one_of([_typed(kind, node, definitions) for kind in kinds]))
    layers += [strategy(part, definitions) for part in node.get("allOf", [])]
    union = _union(node)
    if union:
        layers.append(st.one_of([strategy(branch, definitions) for branch in union]))
    if not layers:
        return st.sampled_from(JUNK)
    result = layers[0]
    for layer in layers[1:]:
        result = st.builds(_merged, result, layer)
    return result


def _typed(kind: str, node: Schema, definitions: dict[str, Schema]) -> st.SearchStrategy[Any]:
    if kind == "object":
        members = {name: strategy(value, definitions) for name, value in node.get("properties", {}).items()}
        required = {name: members.pop(name) for name in node.get("required", ()) if name in members}
        others = node.get("additionalProperties")
        own = st.fixed_dictionaries(required, optional=members)
        if isinstance(others, dict):
            more = st.dictionaries(st.sampled_from(["a", "b/c"]), strategy(others, definitions))
            return st.builds(_merged, more, own)
        return own
    if kind == "array":
        return st.lists(strategy(node["items"], definitions), max_size=2)
    simple: dict[str, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "boolean": st.booleans(),
        "integer": st.sampled_from([0, 1, 7, 65535]),
        "number": st.sampled_from([0, 1.5, -2.0, 1e300]),
        "string": st.sampled_from(["x", "string", "form", "é/~"]),
    }
    return simple[kind]


def fullest(node: Schema, definitions: dict[str, Schema]) -> Iterator[Any]:
    """Valid instances with every optional member, one for each branch of the unions on the way down."""
    if "const" in node:
        yield node["const"]
        return
    if "$ref" in node:
        yield from fullest(definitions[node["$ref"].rpartition("/")[2]], definitions)
        return
    layers: list[list[Any]] = []
    kinds = node.get("type")
    if kinds:
        layers.append(list(_fullest_typed(kinds if isinstance(kinds, str) else kinds[0], node, definitions)))
    layers += [list(fullest(part, definitions)) for part in node.get("allOf", [])]
    union = _union(node)
    if union:
        layers.append([value for branch in union for value in fullest(branch, definitions)])
    values = layers[0] if layers else [{"any": 1}]
    for layer in layers[1:]:
        # Each variant once, not every combination.
        width = max(len(values), len(layer))
        values = [_merged(values[i % len(values)], layer[i % len(layer)]) for i in range(width)]
    yield from values


def _fullest_typed(kind: str, node: Schema, definitions: dict[str, Schema]) -> Iterator[Any]:
    if kind == "object":
        members = {
            name: list(fullest(value, definitions)) for name, value in node.get("properties", {}).items()
        }
        others = node.get("additionalProperties")
        if isinstance(others, dict):
            members["any/key"] = list(fullest(others, definitions))
        for turn in range(max((len(values) for values in members.values()), default=1)):
            yield {name: values[turn % len(values)] for name, values in members.items()}
    elif kind == "array":
        yield list(fullest(node["items"], definitions))
    else:
        yield {"null": None, "boolean": True, "integer": 1, "number": 1.5, "string": "x"}[kind]


def places(value: object, depth: int = 99, path: Path = ()) -> Iterator[Path]:
    """The path of everything inside, at most `depth` steps down."""
    yield path
    if len(path) < depth and isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, depth, (*path, key))


Change = Callable[[Any], Any]
GONE = object()


def changed(value: Any, path: Path, change: Change) -> Any:
    """What `value` is after `change` of what is at `path`; the original stays."""
    if not path:
        result = change(value)
        return None if result is GONE else result
    step, *rest = path
    copied: Any = dict(value) if isinstance(value, dict) else list(value)
    result = change(value[step]) if not rest else changed(value[step], tuple(rest), change)
    if result is GONE:
        del copied[step]
    else:
        copied[step] = result
    return copied


def replacement(new: object) -> Change:
    return lambda old: new


def addition(name: str, new: object) -> Change:
    return lambda old: {name: new, **old} if isinstance(old, dict) else old


EVERY_CHANGE = [
    replacement(GONE),
    *map(replacement, JUNK),
    *(addition(name, value) for name, value in EXTRA.items()),
]


@st.composite
def mutated(draw: st.DrawFn, instances: st.SearchStrategy[Any]) -> Any:
    value = draw(instances)
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(list(places(value))))
        value = changed(value, path, draw(st.sampled_from(EVERY_CHANGE)))
    return value
