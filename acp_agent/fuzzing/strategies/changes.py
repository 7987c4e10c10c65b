"""Small changes to a valid message, each one thing that peers get wrong: a member gone, null, of another type, unknown.

A Change is plain data and fits any message: its place counts through the message's own places. So it can be drawn
before the message is known, and shrinks by itself. Deliberately absent: how the result is spelled (wire.py).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from acp_agent.fuzzing.strategies.text import ANY, PIECES

EDGE_NUMBERS: Final = (
    *(0, 1, -1, 255, 65535, 65536, 2**31 - 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64),
    *(-(2**31), -(2**53), -(2**63), -(2**63) - 1, 0.0, -0.0, 1.0, 1.5, 1e300, 5e-324),
)
"""Around every limit that programs put a number into."""

JUNK: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    "",
    "x",
    [],
    {},
    [None],
    [{}],
    {"x": {}},
    {"type": "text"},
    *EDGE_NUMBERS,
)
"""What stands where something else belongs."""

ID_FORMS: Final[tuple[Any, ...]] = (
    0,
    "",
    -1,
    "0",
    2**53,
    "7f3c9a52-6f0e-4f0b-9a53-5d7f7d1f0a55",
    "é",
    1.0,
    1.5,
    None,
    True,
    [],
    {},
)
"""Ids that are legal and rare, and some that are none."""

EXTRA: Final = {"_x": {"y": 1}, "zz": None, "type": "other", "sessionId": "s", "text": "t", "_meta": 1}


@dataclass(frozen=True, slots=True)
class Change:
    """One change. place: which part of the message, counted through them all; kind: what happens there.

    kind: "drop", "replace" (by value), "add" (the member `name` with value), "double" (an item of a list).
    """

    place: int
    kind: str
    value: Any = None
    name: str = "zz"


def apply(message: Any, change: Change) -> Any:
    """A changed copy of a message; the message stays."""
    places = [path for path in _places(message) if path]
    if not places:
        return change.value
    path = places[change.place % len(places)]
    copied = copy.deepcopy(message)
    parent = copied
    for step in path[:-1]:
        parent = parent[step]
    last = path[-1]
    match change.kind:
        case "drop":
            del parent[last]
        case "double" if isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        case "add" if isinstance(parent[last], dict):
            parent[last][change.name] = copy.deepcopy(change.value)
        case "add" if isinstance(parent, dict):
            parent[change.name] = copy.deepcopy(change.value)
        case _:
            parent[last] = copy.deepcopy(change.value)
    return copied


def changes(places: st.SearchStrategy[int] | None = None) -> st.SearchStrategy[Change]:
    """Any change anywhere. places: where; None for anywhere."""
    where = st.integers(0, 40) if places is None else places
    values = st.one_of(st.sampled_from(JUNK), ANY, st.sampled_from(PIECES), st.sampled_from(ID_FORMS))
    return st.one_of(
        st.builds(Change, where, st.just("drop")),
        st.builds(Change, where, st.just("replace"), values),
        st.builds(
            Change, where, st.just("add"), st.sampled_from(list(EXTRA.values())), st.sampled_from(list(EXTRA))
        ),
        st.builds(Change, where, st.just("double")),
    )


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from _places(inner, (*path, step))
