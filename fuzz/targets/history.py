"""A history is the turns that went into it, whole and valid to be sent; a compression puts one summary before the last.

Documented: nothing raises. From a file whatever has no partner is made whole or left out; a turn that gets no answer
is none; a summary is written by a model that may fail, and then nothing changes.
"""

from __future__ import annotations

from typing import Any

from bob.clock import run
from bob.models import PlainModel
from hypothesis import strategies as st
from reference.chat import assert_valid
from strategies.records import ANY_ORDER, ARGUMENTS, IDS, NAMES, TEXTS, turns

from acp_agent.agent.compaction import compact
from acp_agent.agent.history import History
from acp_agent.llm.model import ToolCallReady

_SUMMARIES = st.sampled_from(
    [
        [["text", "a "], ["text", "summary"], ["finish", "stop", 0]],
        [["text", " "], ["finish", "stop", 0]],
        [["text", "half"], ["finish", "length", 0]],
        [["finish", "content_filter", 0]],
        [["text", "half"], ["error", "timeout"]],
        [["error", "overflow"]],
    ]
)
_STEPS = st.one_of(
    st.tuples(st.just("begin"), TEXTS),
    st.tuples(
        st.just("answer"),
        TEXTS,
        st.lists(st.tuples(IDS, NAMES, ARGUMENTS), max_size=3, unique_by=lambda c: c[0]),
    ),
    st.tuples(st.just("answer"), TEXTS, st.just([])),
    st.tuples(st.just("result"), TEXTS, st.booleans()),
    st.tuples(st.just("result"), TEXTS, st.booleans()),
    st.just(("end",)),
    st.just(("drop",)),
    st.just(("reset",)),
    st.just(("reload",)),
    st.tuples(st.just("compact"), st.integers(0, 3), _SUMMARIES),
)

cases = st.fixed_dictionaries({"stored": ANY_ORDER | turns(), "steps": st.lists(_STEPS, max_size=25)})


def check(case: Any) -> None:
    """Lead a conversation as turns do, and a plain list of turns beside it."""
    history = History("s", case["stored"])
    assert_valid(history.messages())
    assert History("s", history.records()).records() == history.records(), (
        "what was made whole stays as it is"
    )
    plain = _Plain(history.records()[1:])
    for step in case["steps"]:
        if step[0] == "compact":
            _compact(history, plain, step[1], step[2])
        else:
            history = _apply(history, plain, step)
        assert history.records()[1:] == plain.records()
        assert len(history) == len(plain.records())
        if plain.open is None:
            assert_valid(history.messages())


def _compact(history: History, plain: _Plain, keep: int, summary: list[Any]) -> None:
    if plain.waiting:
        return  # Bob asks between rounds only
    before = history.records()
    compaction = run(compact(history, PlainModel([summary] * 3), keep_last_turns=keep, input_tokens=None))
    assert "\n" not in compaction.line
    if not compaction.changed:
        assert history.records() == before
        return
    assert summary[0] == ["text", "a "], "half a summary was taken"
    kept = plain.keep(keep if plain.open is None else max(1, keep))
    assert history.records()[1:] == [{"role": "user", "content": "a summary", "summary": True}, *kept]
    assert not kept or (kept[0]["role"] == "user" and "summary" not in kept[0])


def _apply(history: History, plain: _Plain, step: Any) -> History:
    """The step, if it can come now, to both."""
    match step:
        case ["begin", text] if plain.open is None:
            history.begin_turn(text)
            plain.begin({"role": "user", "content": text})
        case ["answer", text, calls] if plain.open is not None and not plain.waiting:
            history.add_answer(text, [ToolCallReady(*call) for call in calls])
            plain.answer(text, calls)
        case ["result", text, failed] if plain.waiting:
            history.add_result(plain.waiting[0], text, failed=failed)
            plain.result(text, failed)
        case ["end"]:
            history.end_turn("[stand-in]")
            plain.end()
        case ["drop"]:
            history.drop_turn()
            if plain.open is not None:
                plain.done, plain.open, plain.waiting = plain.done, None, []
        case ["reset"]:
            assert history.reset() == len(plain.records())
            plain.done, plain.open, plain.waiting = [], None, []
        case ["reload"] if plain.open is None:
            return History("s", history.records())
    return history


class _Plain:
    """The turns as lists of records. open: the one that is not over; waiting: its calls without a result."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.done: list[list[dict[str, Any]]] = []
        self.open: list[dict[str, Any]] | None = None
        self.waiting: list[str] = []
        for record in records:
            if not self.done or (record["role"] == "user" and "summary" not in record):
                self.done.append([])
            self.done[-1].append(record)

    def records(self) -> list[dict[str, Any]]:
        return [record for turn in self._turns() for record in turn]

    def begin(self, question: dict[str, Any]) -> None:
        self.open = [question]

    def answer(self, text: str, calls: list[Any]) -> None:
        if not text and not calls:
            return
        record: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            record["tool_calls"] = [
                {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id_, name, arguments in calls
            ]
            self.waiting = [id_ for id_, _, _ in calls]
        self._opened().append(record)

    def result(self, text: str, failed: bool) -> None:
        record = {"role": "tool", "tool_call_id": self.waiting.pop(0), "content": text}
        self._opened().append(record | ({"failed": True} if failed else {}))

    def end(self) -> None:
        if self.open is None:
            return
        while self.waiting:
            self.result("[stand-in]", True)
        if len(self.open) > 1:
            self.done.append(self.open)
        self.open = None

    def keep(self, last: int) -> list[dict[str, Any]]:
        """Forget all but the last turns, a summary in their place; what is left, without the summary."""
        turns = [turn for turn in self._turns() if self._begins(turn)]
        kept = turns[-last:] if last else []
        summary = {"role": "user", "content": "a summary", "summary": True}
        if self.open is not None and kept:
            self.done, self.open = [[summary], *kept[:-1]], kept[-1]
        else:
            self.done = [[summary], *kept]
        return [record for turn in kept for record in turn]

    def _turns(self) -> list[list[dict[str, Any]]]:
        return [*self.done, *([self.open] if self.open is not None else [])]

    def _begins(self, turn: list[dict[str, Any]]) -> bool:
        return turn[0]["role"] == "user" and "summary" not in turn[0]

    def _opened(self) -> list[dict[str, Any]]:
        assert self.open is not None
        return self.open
