"""A change fits any message, changes a copy, and does what its kind says."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from acp_agent.fuzzing.strategies.changes import Change, apply, changes

MESSAGE = {"id": 1, "params": {"list": ["a", "b"], "cwd": "/"}}
ANYTHING = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(ANYTHING, changes())
def test_any_change_can_be_made_to_any_value(value: object, change: Change) -> None:
    """And the value stays as it was."""
    before = copy.deepcopy(value)
    apply(value, change)
    assert value == before


def test_each_kind_does_what_it_says() -> None:
    """Places are counted through the message, without the whole of it: id, params, list, its items, cwd."""
    assert apply(MESSAGE, Change(0, "drop")) == {"params": MESSAGE["params"]}
    assert apply(MESSAGE, Change(5, "replace", None)) == {
        "id": 1,
        "params": {"list": ["a", "b"], "cwd": None},
    }
    assert apply(MESSAGE, Change(3, "double")) == {"id": 1, "params": {"list": ["a", "a", "b"], "cwd": "/"}}
    assert apply(MESSAGE, Change(1, "add", 7, "zz")) == {
        **MESSAGE,
        "params": {"list": ["a", "b"], "cwd": "/", "zz": 7},
    }
    assert apply(MESSAGE, Change(0, "add", 7, "zz")) == {**MESSAGE, "zz": 7}
    assert apply("x", Change(0, "replace", 7)) == 7
