"""Conversations as a session's file holds them: in turns as Bob leads them, or in any order that the format allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies.text import ENCODABLE

IDS = st.sampled_from(["c1", "c2", "c3", "", "call_1", "replayed_1"])
TEXTS = st.sampled_from(["q", "a", "", " ", "é"]) | ENCODABLE
ARGUMENTS = st.sampled_from(
    [
        '{"command": "ls"}',
        '{"path": "a", "old_text": "x", "new_text": "y"}',
        '{"path": "~nobody/x"}',
        '{"path": "a\\u0000"}',
        '{"name": "s"}',
        "{}",
        "",
        "[1",
        "null",
    ]
)
NAMES = st.sampled_from(["bash", "read_file", "write_file", "edit_file", "read_skill", "nonsense"])


def call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


CALLS = st.builds(call, IDS, NAMES, ARGUMENTS)

_ANY = st.one_of(
    st.fixed_dictionaries({"role": st.just("system"), "content": TEXTS}),
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS}, optional={"summary": st.just(True)}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": TEXTS | st.none()},
        optional={"tool_calls": st.lists(CALLS, min_size=1, max_size=3)},
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": IDS, "content": TEXTS}, optional={"failed": st.just(True)}
    ),
)
ANY_ORDER = st.lists(_ANY, max_size=10)


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What Bob keeps: questions, answers, each call with its result, ids used once."""
    records: list[dict[str, Any]] = [{"role": "system", "content": "s"}]
    number = 0
    if draw(st.booleans()):
        records.append({"role": "user", "content": "what was", "summary": True})
    for _ in range(draw(st.integers(0, 4))):
        records.append({"role": "user", "content": draw(TEXTS)})
        for _ in range(draw(st.integers(0, 2))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                calls.append(call(f"call{number:05d}", draw(NAMES), draw(ARGUMENTS)))
            records.append({"role": "assistant", "content": draw(TEXTS) or None, "tool_calls": calls})
            for one in calls:
                result = {"role": "tool", "tool_call_id": one["id"], "content": draw(TEXTS)}
                records.append(result | ({"failed": True} if draw(st.booleans()) else {}))
        records.append({"role": "assistant", "content": draw(TEXTS) or "a"})
    return records
