"""The history is in a form a model server accepts, whatever a turn came to."""

from __future__ import annotations

from typing import Any

import pytest
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
    history.begin_turn("q")
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
    history.begin_turn("q")
    assert len(given_out) == 1


def test_the_end_of_a_turn_gives_open_calls_a_stand_in() -> None:
    """Every tool call has its result: a cancelled one gets a stand-in, those that have one keep it."""
    history = History("s")
    history.begin_turn("q")
    history.add_answer("I look", [call("a"), call("b"), call("c")])
    history.add_result("a", "out")
    history.end_turn(STAND_IN)
    assert [(one.get("tool_call_id"), one["content"]) for one in history.messages()[3:]] == [
        ("a", "out"),
        ("b", STAND_IN),
        ("c", STAND_IN),
    ]


def test_a_question_without_any_answer_is_removed() -> None:
    """A question with no answer at all is removed; the turns before stay."""
    history = History("s")
    history.begin_turn("q1")
    history.add_answer("a1")
    history.end_turn(STAND_IN)
    history.begin_turn("q2")
    history.end_turn(STAND_IN)
    assert [one["content"] for one in history.messages()] == ["s", "q1", "a1"]


def test_half_an_answer_is_kept() -> None:
    """The history is kept after a failure or a cancellation."""
    history = History("s")
    history.begin_turn("q")
    history.add_answer("half")
    history.end_turn(STAND_IN)
    assert len(history) == 2


def test_a_turn_ends_once() -> None:
    """A turn that fails while it ends is ended again: nothing more happens, to this turn or the one before."""
    history = History("s")
    history.begin_turn("q")
    history.add_answer("", [call("a")])
    history.end_turn(STAND_IN)
    before = history.messages()
    history.end_turn("another")
    history.drop_turn()
    assert history.messages() == before


def test_a_dropped_turn_is_forgotten_whole() -> None:
    """R-138: what was refused is no part of the next prompt's context."""
    history = History("s")
    history.begin_turn("q1")
    history.add_answer("a1")
    history.end_turn(STAND_IN)
    history.begin_turn("q2")
    history.add_answer("a2", [call("a")])
    history.add_result("a", "out")
    history.drop_turn()
    assert [one["content"] for one in history.messages()] == ["s", "q1", "a1"]


def turns(history: History, count: int) -> None:
    """So many turns, each a question, a call, its result, an answer."""
    for number in range(count):
        history.begin_turn(f"q{number}")
        history.add_answer("", [call(f"t{number}")])
        history.add_result(f"t{number}", "out", failed=number % 2 == 1)
        history.add_answer(f"a{number}")
        history.end_turn(STAND_IN)


@pytest.mark.parametrize(
    ("keep", "older"), [(0, ["q0", "q1", "q2"]), (1, ["q0", "q1"]), (2, ["q0"]), (3, []), (9, [])]
)
def test_older_turns_are_whole_turns(keep: int, older: list[str]) -> None:
    """A turn is a user message with all that answers it; it is never cut in two."""
    history = History("s")
    turns(history, 3)
    records = history.older_turns(keep)
    assert [one["content"] for one in records if one["role"] == "user"] == older
    assert len(records) == 4 * len(older)


def test_a_summary_takes_the_place_of_older_turns() -> None:
    """A user-role message, marked in what is stored and not in what is sent; a second one absorbs the first."""
    history = History("s")
    turns(history, 4)
    history.summarise(history.older_turns(2), "in short")
    assert history.records()[1] == {"role": "user", "content": "in short", "summary": True}
    assert history.messages()[1] == {"role": "user", "content": "in short"}
    assert len(history) == 1 + 2 * 4
    assert is_valid(history.messages()[1:])
    assert len(history.older_turns(2)) == 0 or history.older_turns(2)[0].get("summary")
    history.summarise(history.older_turns(1), "shorter")
    assert [one["content"] for one in history.records() if "summary" in one] == ["shorter"]
    assert len(history) == 1 + 4


def test_a_summary_in_an_open_turn_leaves_that_turn_open() -> None:
    """A context that is too small is noticed in the middle of a turn, which then goes on and ends as any other."""
    history = History("s")
    turns(history, 3)
    history.begin_turn("now")
    history.summarise(history.older_turns(1), "in short")
    history.add_answer("half")
    history.drop_turn()
    assert [one["content"] for one in history.messages()] == ["s", "in short"]


def test_a_reset_forgets_all_but_the_system_prompt() -> None:
    """/new: how many messages that were, the system prompt not counted."""
    history = History("s")
    turns(history, 2)
    assert history.reset() == 8
    assert history.messages() == [{"role": "system", "content": "s"}]
    assert history.reset() == 0


def test_what_was_stored_comes_back_with_the_current_system_prompt() -> None:
    """The stored system prompt is left out; marks are kept in the records and never sent."""
    history = History("old")
    turns(history, 3)
    history.summarise(history.older_turns(1), "in short")
    again = History("new", history.records())
    assert again.records()[1:] == history.records()[1:]
    assert again.messages()[0] == {"role": "system", "content": "new"}
    assert not any(mark in one for one in again.messages() for mark in ("summary", "failed"))


def test_the_open_turn_is_never_among_the_older_ones() -> None:
    """A turn is not cut, also where nothing is to be kept."""
    history = History("s")
    turns(history, 2)
    assert len(history.older_turns(0)) == len(history)
    closed = history.records()[1:]
    history.begin_turn("open")
    assert history.older_turns(0) == closed


def test_two_stored_calls_of_one_id_have_a_result_each() -> None:
    """A file may have been edited; what has a result keeps it, and read again it is the same."""
    calls: list[object] = [{"id": "a", "function": {}}, {"id": "a", "function": {}}]
    answer = {"role": "assistant", "content": None, "tool_calls": calls}
    one = {"role": "tool", "tool_call_id": "a", "content": "1"}
    two = {"role": "tool", "tool_call_id": "a", "content": "2"}
    assert History("s", [answer, one, two, two]).records()[2:] == [one, two]
    made_whole = History("s", [answer, one]).records()
    assert [record["content"] for record in made_whole[2:]] == ["1", "[no result was recorded]"]
    assert History("s", made_whole).records() == made_whole


RECORDS = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=2)),
        st.builds(
            lambda text, ids: {
                "role": "assistant",
                "content": text,
                **({"tool_calls": [{"id": id_, "function": {}} for id_ in ids]} if ids else {}),
            },
            st.sampled_from([None, "", "a"]),
            st.lists(st.sampled_from("abc"), max_size=3),
        ),
        st.builds(lambda id_: {"role": "tool", "tool_call_id": id_, "content": ""}, st.sampled_from("abc")),
        st.just({"role": "system", "content": "old"}),
    ),
    max_size=12,
)


@given(RECORDS)
def test_whatever_was_stored_what_is_sent_is_valid(records: list[dict[str, Any]]) -> None:
    """Every call has its result and every result its call."""
    assert is_valid(History("s", records).messages()[1:])


ROUNDS = st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3), st.integers(0, 3)), max_size=4)


@given(st.lists(ROUNDS, max_size=4))
def test_whatever_a_turn_leaves_open_its_end_makes_it_valid(turns: list[list[tuple[str, int, int]]]) -> None:
    """A turn may break off after any call or result; the next request is valid."""
    history = History("s")
    number = 0
    for rounds in turns:
        history.begin_turn("q")
        for text, calls, results in rounds:
            ids = [f"t{number + offset}" for offset in range(calls)]
            number += calls
            history.add_answer(text, [call(id_) for id_ in ids])
            for id_ in ids[:results]:
                history.add_result(id_, "out")
            if results < calls:
                break
        history.end_turn(STAND_IN)
        assert is_valid(history.messages()[1:])


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 4), max_size=4), st.booleans())
def test_compressing_cuts_no_turn_and_parts_no_call_from_its_result(
    shapes: list[int], keeps: list[int], open_turn: bool
) -> None:
    """However often a history is compressed: valid, the newest turns untouched, one summary, nothing said twice."""
    history = History("s")
    for number, calls in enumerate(shapes):
        history.begin_turn(f"q{number}")
        for index in range(calls):
            history.add_answer("", [call(f"t{number}.{index}.{part}") for part in range(index + 1)])
            for part in range(index + 1):
                history.add_result(f"t{number}.{index}.{part}", "out")
        history.add_answer(f"a{number}")
        history.end_turn(STAND_IN)
    if open_turn:
        history.begin_turn("open")
    for number, keep in enumerate(keeps):
        before = history.records()
        older = history.older_turns(keep)
        keep = max(1, keep) if open_turn else keep  # the open one is kept in any case
        questions = [one["content"] for one in before if one["role"] == "user" and "summary" not in one]
        if not older:
            assert len(questions) <= keep
            continue
        history.summarise(older, f"summary {number}")
        after = history.records()
        assert after[1] == {"role": "user", "content": f"summary {number}", "summary": True}
        assert after[2:] == before[1 + len(older) :]
        assert sum("summary" in one for one in after) == 1
        assert [one["content"] for one in after[2:] if one["role"] == "user"] == questions[
            len(questions) - keep :
        ]
        assert is_valid(history.messages()[1:])
    history.add_answer("answer")
    history.end_turn(STAND_IN)
    assert is_valid(history.messages()[1:])
    again = History("s", history.records())
    assert again.records() == history.records()


def test_an_answer_can_be_taken_back_as_long_as_nothing_followed_it() -> None:
    """Half an answer, which is asked for again; never a question, a result, or an answer of another turn."""
    history = History("s")
    assert not history.drop_answer()
    history.begin_turn("q")
    assert not history.drop_answer()
    history.add_answer("ha")
    assert history.drop_answer()
    assert not history.drop_answer()
    assert [message["content"] for message in history.messages()] == ["s", "q"]
    history.add_answer("whole")
    history.end_turn("")
    assert not history.drop_answer()
