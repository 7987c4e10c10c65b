"""The turn machine against a table written by hand, against its graph, and against a small turn of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_agent.protocol.machines.step import TURN, Step, step
from acp_agent.protocol.machines.turn import TurnEvent, TurnFacts, TurnState

ACTIVE = ("pending", "streaming", "awaiting_permission", "running_tool")

ALL_FACTS = [
    TurnFacts(*values)
    for values in itertools.product((0, 1, 3), (0, 1, 2), (0, 1, 2), (False, True), (False, True))
]


@dataclass(frozen=True)
class Row:
    """One row by hand. A fact that is not named may be anything; `same` leads back to where it came from."""

    rule: str
    event: str
    states: tuple[str, ...]
    target: str
    asks: bool | None = None
    runs: bool | None = None
    open_calls: bool | None = None
    cancel: bool | None = None
    turn_cancel: bool | None = None

    def fits(self, state: str, event: str, facts: TurnFacts) -> bool:
        """Whether this row is about that event in that state under those facts."""
        wanted_and_true = (
            (self.asks, facts.permissions_open > 0),
            (self.runs, facts.calls_running > 0),
            (self.open_calls, facts.calls_open > 0),
            (self.cancel, facts.cancel_asked or facts.turn_cancel_asked),
            (self.turn_cancel, facts.turn_cancel_asked),
        )
        return (
            event == self.event
            and state in self.states
            and all(wanted is None or wanted == true for wanted, true in wanted_and_true)
        )


BY_HAND = [
    Row("T3", "start_streaming", ("pending", "streaming"), "streaming"),
    Row("T3", "start_streaming", ("awaiting_permission", "running_tool"), "same"),
    Row("T4 T5", "change_call", ACTIVE, "awaiting_permission", asks=True),
    Row("T4 T5", "change_call", ACTIVE, "running_tool", asks=False, runs=True),
    Row("T4 T5", "change_call", ACTIVE, "streaming", asks=False, runs=False),
    Row("T6", "ask_permission", ACTIVE, "awaiting_permission"),
    Row("T7 T8", "answer_permission", ("awaiting_permission",), "awaiting_permission", asks=True),
    Row("T7 T8", "answer_permission", ("awaiting_permission",), "running_tool", asks=False, runs=True),
    Row("T7 T8", "answer_permission", ("awaiting_permission",), "streaming", asks=False, runs=False),
    Row("T9", "cancel", ACTIVE, "same"),
    Row("T10", "finish", ACTIVE, "done", cancel=False, asks=False, open_calls=False),
    Row("T11", "finish_cancelled", ACTIVE, "cancelled", cancel=True, asks=False, open_calls=False),
    Row("T12", "stop_cancelled", ACTIVE, "cancelled", turn_cancel=False),
    Row("T14", "fail", ACTIVE, "failed", turn_cancel=False),
    Row("T15", "disconnect", ACTIVE, "failed"),
    Row("T16", "reject_answer", ACTIVE, "failed"),
]

# What an onlooker does with an answer that should not have been given: it ends the turn all the same (T10, T11, T13).
FORCED_BY_HAND = {
    "finish": "done",
    "finish_cancelled": "cancelled",
    "stop_cancelled": "cancelled",
    "fail": "cancelled",
}

OUR_ANSWERS = (TurnEvent.FINISH, TurnEvent.FINISH_CANCELLED, TurnEvent.STOP_CANCELLED, TurnEvent.FAIL)


@pytest.mark.parametrize("event", TurnEvent)
@pytest.mark.parametrize("state", TurnState)
def test_every_event_in_every_state_is_as_written_by_hand(state: TurnState, event: TurnEvent) -> None:
    """Requirement: rows T3 to T16, for every combination of the facts, and no other transition."""
    for facts in ALL_FACTS:
        rows = [row for row in BY_HAND if row.fits(state, event, facts)]
        assert len(rows) < 2, "the table by hand contradicts itself"
        wanted = (rows[0].target if rows[0].target != "same" else state.value) if rows else None
        taken = step(TURN, state, event, facts)
        assert (taken.before, taken.event) == (state, event)
        assert taken.after == wanted, (state, event, facts)


@pytest.mark.parametrize("event", TurnEvent)
@pytest.mark.parametrize("state", TurnState)
def test_a_refusal_names_every_fact_in_the_way_and_no_other(state: TurnState, event: TurnEvent) -> None:
    """Requirement: the verdict on an early or wrong ending can say all that was wrong with it."""
    for facts in ALL_FACTS:
        cancelled = facts.cancel_asked or facts.turn_cancel_asked
        unfinished = {"permissions_open": facts.permissions_open > 0, "calls_open": facts.calls_open > 0}
        in_the_way = {
            "finish": {"cancel_asked": cancelled, **unfinished},
            "finish_cancelled": {"cancel_asked": not cancelled, **unfinished},
            "stop_cancelled": {"turn_cancel_asked": facts.turn_cancel_asked},
            "fail": {"turn_cancel_asked": facts.turn_cancel_asked},
        }
        wanted = tuple(name for name, is_so in in_the_way.get(event, {}).items() if is_so and state in ACTIVE)
        taken = step(TURN, state, event, facts)
        assert taken.failed_guards == wanted
        assert taken.forced == (FORCED_BY_HAND[event] if wanted else None)


def test_the_active_states_are_those_that_are_not_final() -> None:
    """Requirement: what is exported as active is what the table says."""
    assert set(ACTIVE) == set(TURN.decisions) - TURN.final
    assert TURN.initial is TurnState.PENDING


def test_an_ended_turn_knows_no_event() -> None:
    """Requirement: an ended turn never becomes active again, whatever comes late."""
    for state in (TurnState.DONE, TurnState.CANCELLED, TurnState.FAILED):
        for event in TurnEvent:
            assert step(TURN, state, event, TurnFacts()) == Step(state, event, None, (), None)


def reachable(
    start: TurnState, events: Iterable[TurnEvent], all_facts: Iterable[TurnFacts]
) -> set[TurnState]:
    """Every state some walk can come to."""
    moves = list(itertools.product(events, all_facts))
    reached = {start}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        for event, facts in moves:
            after = step(TURN, state, event, facts).after
            if after is not None and after not in reached:
                reached.add(after)
                waiting.append(after)
    return reached


@pytest.mark.parametrize("start", sorted(ACTIVE))
def test_after_a_cancel_of_the_turn_our_answers_end_it_as_cancelled_only(start: TurnState) -> None:
    """Requirement: with `session/cancel` or `session/close` asked, no missing check can let another end win."""
    asked = [facts for facts in ALL_FACTS if facts.turn_cancel_asked]
    ours = set(TurnEvent) - {TurnEvent.DISCONNECT, TurnEvent.REJECT_ANSWER}
    assert reachable(start, ours, asked) & TURN.final == {TurnState.CANCELLED}
    with_the_stream_lost = ours | {TurnEvent.DISCONNECT}
    assert reachable(start, with_the_stream_lost, asked) & TURN.final == {
        TurnState.CANCELLED,
        TurnState.FAILED,
    }


@pytest.mark.parametrize("start", sorted(ACTIVE))
def test_after_a_cancel_of_the_turn_no_error_is_an_answer(start: TurnState) -> None:
    """Requirement: R-156, the cancel is answered with a result; -32800 does not do."""
    for facts in ALL_FACTS:
        if facts.turn_cancel_asked:
            legal = [event for event in OUR_ANSWERS if step(TURN, start, event, facts).after is not None]
            assert legal in ([], [TurnEvent.FINISH_CANCELLED])


@pytest.mark.parametrize("start", sorted(ACTIVE))
@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (TurnFacts(), {TurnEvent.FINISH, TurnEvent.STOP_CANCELLED, TurnEvent.FAIL}),
        (
            TurnFacts(cancel_asked=True),
            {TurnEvent.FINISH_CANCELLED, TurnEvent.STOP_CANCELLED, TurnEvent.FAIL},
        ),
        (TurnFacts(cancel_asked=True, turn_cancel_asked=True), {TurnEvent.FINISH_CANCELLED}),
    ],
    ids=["not cancelled", "request cancelled", "turn cancelled"],
)
def test_a_turn_with_nothing_open_can_always_be_answered(
    start: TurnState, facts: TurnFacts, wanted: set[TurnEvent]
) -> None:
    """Requirement: the guards never leave a prompt without any legal answer."""
    assert {event for event in OUR_ANSWERS if step(TURN, start, event, facts).after is not None} == wanted


@dataclass
class ReferenceTurn:
    """A turn as sections 2 and 4 describe it: tables of calls and permissions, and the state derived from them."""

    calls: dict[int, str] = field(default_factory=dict)
    permissions: set[int] = field(default_factory=set)
    seen: bool = False
    cancel: set[str] = field(default_factory=set)

    def derived(self) -> str:
        """The first line of section 4's table that is true."""
        if self.permissions:
            return "awaiting_permission"
        if "in_progress" in self.calls.values():
            return "running_tool"
        return "streaming" if self.seen else "pending"

    def facts(self) -> TurnFacts:
        """What a caller of the machine would count out of its tables."""
        statuses = list(self.calls.values())
        return TurnFacts(
            permissions_open=len(self.permissions),
            calls_running=statuses.count("in_progress"),
            calls_open=statuses.count("in_progress") + statuses.count("pending"),
            cancel_asked=bool(self.cancel),
            turn_cancel_asked=bool(self.cancel & {"session_cancel", "close"}),
        )

    def happen(self, what: tuple[str, int, str]) -> TurnEvent | None:
        """Take something in; the machine's event for it, or None if it could not happen here."""
        kind, key, word = what
        if kind == "text":
            self.seen = True
            return TurnEvent.START_STREAMING
        if kind == "call":
            self.calls[key] = word
            self.seen = True
            return TurnEvent.CHANGE_CALL
        if kind == "ask":
            self.permissions.add(key)
            self.calls.setdefault(key, "pending")
            self.seen = True
            return TurnEvent.ASK_PERMISSION
        if kind == "answer" and key in self.permissions:
            self.permissions.remove(key)
            return TurnEvent.ANSWER_PERMISSION
        if kind == "cancel":
            self.cancel.add(word)
            return TurnEvent.CANCEL
        return None


KEYS = st.integers(0, 3)
HAPPENINGS = st.one_of(
    st.just(("text", 0, "")),
    st.tuples(st.just("call"), KEYS, st.sampled_from(["pending", "in_progress", "completed", "failed"])),
    st.tuples(st.just("ask"), KEYS, st.just("")),
    st.tuples(st.just("answer"), KEYS, st.just("")),
    st.tuples(st.just("cancel"), st.just(0), st.sampled_from(["session_cancel", "close", "request"])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(HAPPENINGS, max_size=40))
def test_the_state_is_the_derived_one_after_any_interleaving(happenings: list[tuple[str, int, str]]) -> None:
    """Requirement: section 4, the active state depends only on the tables; calls and permissions may overlap."""
    turn = ReferenceTurn()
    state = TURN.initial
    for what in happenings:
        event = turn.happen(what)
        if event is None:
            continue
        after = step(TURN, state, event, turn.facts()).after
        assert after == turn.derived(), (state, event)
        state = after


def test_two_calls_and_a_permission_overlap() -> None:
    """Requirement: a running call shows again once the person has answered for another, and streaming at the end."""
    story = [
        (TurnEvent.START_STREAMING, TurnFacts(), "streaming"),
        (TurnEvent.CHANGE_CALL, TurnFacts(calls_running=1, calls_open=1), "running_tool"),
        (
            TurnEvent.ASK_PERMISSION,
            TurnFacts(permissions_open=1, calls_running=1, calls_open=2),
            "awaiting_permission",
        ),
        (
            TurnEvent.START_STREAMING,
            TurnFacts(permissions_open=1, calls_running=1, calls_open=2),
            "awaiting_permission",
        ),
        (TurnEvent.ANSWER_PERMISSION, TurnFacts(calls_running=1, calls_open=2), "running_tool"),
        (TurnEvent.CHANGE_CALL, TurnFacts(calls_running=2, calls_open=2), "running_tool"),
        (TurnEvent.CHANGE_CALL, TurnFacts(calls_running=1, calls_open=1), "running_tool"),
        (TurnEvent.CHANGE_CALL, TurnFacts(), "streaming"),
        (TurnEvent.FINISH, TurnFacts(), "done"),
    ]
    state = TURN.initial
    for event, facts, wanted in story:
        after = step(TURN, state, event, facts).after
        assert after == wanted
        state = after


def test_a_pipelined_cancel_ends_a_turn_in_which_nothing_was_shown() -> None:
    """Requirement: race R3, pending leads to cancelled without any update."""
    facts = TurnFacts(cancel_asked=True, turn_cancel_asked=True)
    assert step(TURN, TurnState.PENDING, TurnEvent.CANCEL, facts).after is TurnState.PENDING
    assert step(TURN, TurnState.PENDING, TurnEvent.FINISH_CANCELLED, facts).after is TurnState.CANCELLED


def test_a_late_cancel_does_not_touch_an_ended_turn() -> None:
    """Requirement: races R1 and R11, the first end stands."""
    facts = TurnFacts(cancel_asked=True, turn_cancel_asked=True)
    assert step(TURN, TurnState.DONE, TurnEvent.CANCEL, facts).after is None
