"""Asking the machines: the transition tables compiled from the classes, and the one function that steps them.

The library's engine takes about 90 microseconds a step; a dict lookup and its guards take a fraction of
one. So the classes are read once, when this module is imported, and only the tables are used afterwards. A
refused event is a value, not an exception: the caller decides whether it is our own mistake or the peer's.

Deliberately absent: state. A caller keeps the state beside its own data, gives it in and stores what comes
out; a turn therefore cannot touch another turn's state. No callbacks, no listeners, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from statemachine import StateMachine

from .connection import ConnectionEvent, ConnectionFacts, ConnectionMachine, ConnectionState
from .tool_call import ToolCallEvent, ToolCallFacts, ToolCallMachine, ToolCallState
from .turn import TurnEvent, TurnFacts, TurnMachine, TurnState

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Step(Generic[S, E]):
    """What became of one event.

    after: the new state (the same as before, if the event changes nothing), or None if the event is refused.
    failed_guards: on a refusal, the facts that stood in the way, by the names of the guards, in the order of
        the class. Empty on a refusal means that the state knows no such event at all.
    forced: on a refusal, the state that somebody who cannot refuse has to follow to: an answer ends a turn
        whatever it says. None where there is no edge, and when the event was not refused.
    """

    before: S
    event: E
    after: S | None
    failed_guards: tuple[str, ...] = ()
    forced: S | None = None


class Guard(NamedTuple, Generic[F]):
    """One condition of an edge: `holds(facts)` must be `expected`. `name` is the predicate's own name."""

    name: str
    holds: Callable[[F], bool]
    expected: bool


class Edge(NamedTuple, Generic[S, E, F]):
    """One way on. If all guards agree, `taken` is the answer, built beforehand: a step makes nothing new."""

    guards: tuple[Guard[F], ...]
    taken: Step[S, E]
    forced: S


@dataclass(frozen=True, slots=True)
class Table(Generic[S, E, F]):
    """A machine as data: `edges[state][event]` in the order of the class; a final state has no event."""

    name: str
    initial: S
    final: frozenset[S]
    edges: Mapping[S, Mapping[E, tuple[Edge[S, E, F], ...]]]


def compile_table(
    machine: type[StateMachine], states: type[S], events: type[E], facts: type[F]
) -> Table[S, E, F]:
    """Read the transitions out of a machine class.

    states, events: the enums that name them; facts: what the guards are given.
    Raises ValueError if class and enums do not name the same states and events: one of them was forgotten.
    """
    if {state.value for state in machine.states} != set(states):
        raise ValueError(f"{machine.__name__}: its states are not those of {states.__name__}")
    forced: Mapping[str, S] = getattr(machine, "forced", {})
    edges: dict[S, dict[E, tuple[Edge[S, E, F], ...]]] = {}
    seen: set[str] = set()
    for state in machine.states:
        before = states(state.value)
        ways: dict[E, tuple[Edge[S, E, F], ...]] = {}
        for transition in state.transitions:
            if transition.target is None:
                raise ValueError(f"{machine.__name__}: a transition from {before} leads nowhere")
            after = states(transition.target.value)
            guards = tuple(_guard(condition) for condition in transition.cond)
            for name in transition.events:
                seen.add(str(name))
                event = events(str(name))
                edge = Edge(guards, Step(before, event, after), forced.get(event, after))
                ways[event] = (*ways.get(event, ()), edge)
        edges[before] = ways
    if seen != set(events):
        raise ValueError(f"{machine.__name__}: its events are not those of {events.__name__}")
    return Table(
        name=machine.__name__,
        initial=next(states(state.value) for state in machine.states if state.initial),
        final=frozenset(states(state.value) for state in machine.states if state.final),
        edges=edges,
    )


def _guard(condition: Any) -> Guard[Any]:
    return Guard(condition.func.__name__, condition.func, condition.expected_value)


def step(table: Table[S, E, F], state: S, event: E, facts: F) -> Step[S, E]:
    """Ask the table what an event does; nothing is changed, the caller keeps `after`.

    The first edge whose guards all agree is taken. Otherwise `after` is None and the first edge tells why.
    """
    edges = table.edges[state].get(event)
    if edges is None:
        return Step(state, event, None)
    for guards, taken, _forced in edges:
        for _name, holds, expected in guards:
            if holds(facts) is not expected:
                break
        else:
            return taken
    first = edges[0]
    failed = tuple(guard.name for guard in first.guards if guard.holds(facts) is not guard.expected)
    return Step(state, event, None, failed, first.forced)


CONNECTION = compile_table(ConnectionMachine, ConnectionState, ConnectionEvent, ConnectionFacts)
"""The connection, as a table."""
TURN = compile_table(TurnMachine, TurnState, TurnEvent, TurnFacts)
"""A prompt turn, as a table."""
TOOL_CALL = compile_table(ToolCallMachine, ToolCallState, ToolCallEvent, ToolCallFacts)
"""A tool call, as a table."""
