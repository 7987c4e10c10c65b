"""Chunks to events: every mixture of members ends in one Finished or a ModelError."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.llm.answer import AnswerReader, End
from acp_agent.llm.errors import ModelBadAnswer, ModelError
from acp_agent.llm.model import Finished, FinishReason, ModelEvent, TextDelta, ToolCallReady
from acp_agent.llm.refusals import ServerAddress

ADDRESS = ServerAddress("http://127.0.0.1:1/v1", "m")

STREAM: list[dict[str, Any]] = [
    {
        "id": "c",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}],
    },
    {"id": "c", "choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]},
    {"id": "c", "choices": [{"index": 0, "delta": {"content": "text"}, "finish_reason": None}]},
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "a",
                            "type": "function",
                            "function": {"name": "bash", "arguments": '{"c"'},
                        }
                    ]
                },
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]},
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [{"index": 1, "id": "b", "function": {"name": "read", "arguments": "{}"}}]
                },
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {"function_call": {"name": "x", "arguments": "{}"}}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
]


def read(chunks: list[Any], end: End) -> list[ModelEvent]:
    reader = AnswerReader(ADDRESS, ("bash", "read"), ("used",))
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close(end)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every member and element below value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for step, inner in steps:
        found += [(*path, step), *paths_in(inner, (*path, step))]
    return found


PATHS = paths_in(STREAM)
STRANGE = st.sampled_from(
    [None, "", "x", 0, 7, -1, True, [], {}, [None], [{}], {"a": 1}, "\ud83d", 1.5, 10**400, [[]]]
)


@given(st.data())
def test_any_member_dropped_doubled_moved_or_strange_ends_properly(data: st.DataObject) -> None:
    """B201 to B222: only ModelError is raised, else the last event and only that is Finished."""
    stream = copy.deepcopy(STREAM)
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(PATHS))
        parent: Any = stream
        try:
            for step in path[:-1]:
                parent = parent[step]
            current = parent[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
        if not isinstance(parent, dict | list):
            continue
        change = data.draw(st.sampled_from(["drop", "double", "strange", "swap"]))
        if change == "drop":
            del parent[path[-1]]
        elif change == "strange":
            parent[path[-1]] = data.draw(STRANGE)
        elif change == "double" and isinstance(parent, list):
            parent.insert(path[-1], copy.deepcopy(current))
        elif change == "double":
            parent[f"{path[-1]}_twice"] = current
        else:
            other = data.draw(st.sampled_from(STREAM))
            parent[path[-1]] = copy.deepcopy(other)
    end = data.draw(st.sampled_from(End))
    try:
        events = read(stream, end)
    except ModelError:
        return
    assert [isinstance(event, Finished) for event in events].index(True) == len(events) - 1
    calls = [event for event in events if isinstance(event, ToolCallReady)]
    assert bool(calls) is (events[-1].reason is FinishReason.TOOL_CALLS)  # type: ignore[union-attr]
    for event in events:
        if not isinstance(event, Finished):
            "".join(getattr(event, name) for name in event.__slots__).encode()


def test_the_plain_stream_gives_what_it_says() -> None:
    """Tool calls last, the legacy form ignored beside the new one."""
    events = read(STREAM, End.DONE)
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["ReasoningDelta", "TextDelta", "ToolCallReady", "ToolCallReady", "Finished"]
    assert events[-1] == Finished(FinishReason.TOOL_CALLS, events[-1].usage)  # type: ignore[union-attr]


def test_only_the_first_choice_is_the_answer() -> None:
    """A server that was not asked for more may send more."""
    chunk = {"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]}
    assert read([chunk], End.DONE)[0] == TextDelta("a")


def test_a_list_of_chunks_and_a_refusal_text_are_read() -> None:
    """The list form of some endpoints; a refusal is something said to the person."""
    chunks = [[{"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {"refusal": "no"}}]}]]
    assert read(chunks, End.DONE)[:2] == [TextDelta("a"), TextDelta("no")]


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
def test_a_finish_reason_that_means_failure_is_an_error(reason: str) -> None:
    """Not an answer that ended."""
    with pytest.raises(ModelBadAnswer, match="gave up"):
        read([{"choices": [{"delta": {}, "finish_reason": reason}]}], End.DONE)


@pytest.mark.parametrize(
    "chunk", [None, 1, "x", [], {}, {"choices": {}}, {"choices": [None]}, {"error": None}]
)
def test_chunks_that_say_nothing_are_taken(chunk: object) -> None:
    """B209."""
    assert read([chunk], End.DONE) == [Finished(FinishReason.STOP, None)]


def test_a_broken_connection_is_no_end_unless_a_reason_was_given() -> None:
    """See also the client's tests."""
    with pytest.raises(ModelBadAnswer, match="broke in the middle"):
        read(STREAM[:3], End.BROKEN)
    assert isinstance(read(STREAM, End.BROKEN)[-1], Finished)
