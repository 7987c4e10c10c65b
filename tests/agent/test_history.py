"""The history is in a form a model server accepts, whatever a turn came to."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent.history import History
from acp_agent.llm.model import ToolCallReady

STAND_IN = "[cancelled]"


def call(id_: str) -> ToolCallReady:
    return ToolCallReady(id_, "bash", '{"command": "ls"}')


def is_valid(messages: list[dict[str, Any]]) -> bool:
    """Every call has exactly one result, right behind it; nothing is empty."""
    awaited: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in awaited:
                return False
            awaited.remove(message["tool_call_id"])
        elif awaited:
            return False
        elif message["role"] == "assistant":
            awaited = [one["id"] for one in message.get("tool_calls", [])]
            if not awaited and not message["content"]:
                return False
    return not awaited


def test_it_begins_with_the_system_prompt() -> None:
    """A fresh history holds the system prompt, which is not counted."""
    history = History("you are Bob")
    assert history.messages() == [{"role": "system", "content": "you are Bob"}]
    assert len(history) == 0


def test_an_answer_with_calls_has_the_chat_form() -> None:
    """Ids, names and arguments as the model gave them; no text is null."""
    history = History("s")
    history.add_question("q")
    history.add_answer("", [call("a")])
    history.add_result("a", "out")
    assert history.messages()[2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "out"},
    ]


def test_an_answer_of_nothing_is_no_message() -> None:
    """No server takes an assistant message without content."""
    history = History("s")
    history.add_answer("")
    assert len(history) == 0


def test_what_was_handed_out_does_not_change() -> None:
    """A model call keeps the list it was given."""
    history = History("s")
    given_out = history.messages()
    history.add_question("q")
    assert len(given_out) == 1


def test_closing_gives_open_calls_a_stand_in() -> None:
    """Every tool call has its result: a cancelled one gets a stand-in, those that have one keep it."""
    history = History("s")
    mark = history.mark()
    history.add_question("q")
    history.add_answer("I look", [call("a"), call("b"), call("c")])
    history.add_result("a", "out")
    assert history.open_calls() == ["b", "c"]
    history.close(mark, STAND_IN)
    assert [(one.get("tool_call_id"), one["content"]) for one in history.messages()[3:]] == [
        ("a", "out"),
        ("b", STAND_IN),
        ("c", STAND_IN),
    ]
    assert history.open_calls() == []


def test_closing_removes_a_question_without_any_answer() -> None:
    """A question with no answer at all is removed; the turns before stay."""
    history = History("s")
    history.add_question("q1")
    history.add_answer("a1")
    mark = history.mark()
    history.add_question("q2")
    history.close(mark, STAND_IN)
    assert [one["content"] for one in history.messages()] == ["s", "q1", "a1"]


def test_closing_keeps_half_an_answer() -> None:
    """The history is kept after a failure or a cancellation."""
    history = History("s")
    mark = history.mark()
    history.add_question("q")
    history.add_answer("half")
    history.close(mark, STAND_IN)
    assert len(history) == 2


def test_closing_twice_changes_nothing() -> None:
    """A turn that fails while it ends is closed again."""
    history = History("s")
    mark = history.mark()
    history.add_question("q")
    history.add_answer("", [call("a")])
    history.close(mark, STAND_IN)
    before = history.messages()
    history.close(mark, STAND_IN)
    assert history.messages() == before


def test_a_cut_forgets_all_behind_a_mark() -> None:
    """R-138: what was refused is no part of the next prompt's context."""
    history = History("s")
    history.add_question("q1")
    history.add_answer("a1")
    mark = history.mark()
    history.add_question("q2")
    history.add_answer("a2")
    history.cut(mark)
    assert [one["content"] for one in history.messages()] == ["s", "q1", "a1"]


ROUNDS = st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3), st.integers(0, 3)), max_size=4)


@given(st.lists(ROUNDS, max_size=4))
def test_whatever_a_turn_leaves_open_closing_makes_it_valid(turns: list[list[tuple[str, int, int]]]) -> None:
    """A turn may break off after any call or result; the next request is valid."""
    history = History("s")
    number = 0
    for rounds in turns:
        mark = history.mark()
        history.add_question("q")
        for text, calls, results in rounds:
            ids = [f"t{number + offset}" for offset in range(calls)]
            number += calls
            history.add_answer(text, [call(id_) for id_ in ids])
            for id_ in ids[:results]:
                history.add_result(id_, "out")
            if results < calls:
                break
        history.close(mark, STAND_IN)
        assert is_valid(history.messages())
