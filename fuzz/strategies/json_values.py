"""JSON values, their other spellings, and small changes to them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from strategies.text import ANY, ENCODABLE

EDGE_NUMBERS = (
    *(0, -1, 1, 255, 65535, 65536, 2**31 - 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64),
    *(
        -(2**31) - 1,
        -(2**53),
        -(2**63),
        -(2**63) - 1,
        0.0,
        -0.0,
        1.0,
        1.5,
        -2.5,
        1e300,
        5e-324,
        2.0**53,
        2.0**64,
    ),
)
NUMBERS = (
    st.sampled_from(EDGE_NUMBERS)
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)


def values(text: st.SearchStrategy[str] = ENCODABLE) -> st.SearchStrategy[Any]:
    """Any JSON value of a moderate size."""
    return st.recursive(
        st.none() | st.booleans() | NUMBERS | text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=8,
    )


VALUES = values()
ODD_VALUES = values(ANY)
"""With text that only an escape can spell."""

JUNK = st.sampled_from(
    [None, True, False, 0, 7, -1, 1.5, 2**53, 1e300, "", "x", "\ud83d", [], [None], [[]], [{}], {}, {"a": 1}]
).map(copy.deepcopy)
"""What stands where something else belongs."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything below a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


@st.composite
def changed(draw: st.DrawFn, value: Any, *, most: int = 3, others: st.SearchStrategy[Any] = JUNK) -> Any:
    """The value with members and items dropped, doubled, replaced, added or swapped, `most` times at most."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, most))):
        found = list(places(value))
        if not found:
            return draw(others)
        path = draw(st.sampled_from(found))
        parent = value
        for step in path[:-1]:
            parent = parent[step]
        last = path[-1]
        change = draw(st.sampled_from(["drop", "replace", "double", "swap", "add"]))
        if change == "drop":
            del parent[last]
        elif change == "replace":
            parent[last] = draw(others)
        elif change == "double" and isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        elif change == "double":
            parent[f"{last}_"] = copy.deepcopy(parent[last])
        elif change == "swap":
            other = value
            for step in draw(st.sampled_from(found)):
                if not isinstance(other, dict | list) or (
                    isinstance(other, list) and not isinstance(step, int)
                ):
                    break
                try:
                    other = other[step]
                except (KeyError, IndexError):
                    break
            parent[last] = copy.deepcopy(other)
        elif isinstance(parent[last], dict):
            parent[last][draw(st.sampled_from(["zz", "_meta", "type", "id"]))] = draw(others)
        elif isinstance(parent[last], list):
            parent[last].append(draw(others))
    return value


SPELLINGS = st.fixed_dictionaries(
    {
        "ascii": st.booleans(),
        "slash": st.booleans(),
        "letters": st.booleans(),
        "reverse": st.booleans(),
        "space": st.sampled_from(["", " ", "\t", "\r", " \r "]),
    }
)


def spelled(value: Any, how: dict[str, Any]) -> bytes:
    """One line of JSON in another spelling: escapes, key order, white space. No LF in it."""
    if how["reverse"]:
        value = _reversed(value)
    space = how["space"]
    text = json.dumps(value, ensure_ascii=how["ascii"], separators=(f"{space},{space}", f"{space}:{space}"))
    if how["letters"]:
        text = text.replace("x", "\\u0078")  # outside of strings JSON has no x
    if how["slash"]:
        text = text.replace("/", "\\/")
    # Half of a surrogate pair has no other spelling than the escape.
    found = "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
    return f"{space}{found}{space}".encode()


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(one) for one in value] if isinstance(value, list) else value
