"""Asking the machines: the tables compiled from the classes, and the one function that steps them.

The library's engine takes about 90 microseconds a step; a lookup and a few predicates take a fraction of one.
So the classes are read once, when this module is imported, and only what was made of them is used afterwards.
Every possible answer is built then, too: a step makes no object. A refused event is a value, not an
exception: the caller decides whether it is our own mistake or the peer's.

Deliberately absent: state. A caller keeps the state beside its own data, gives it in and stores what comes
out; a turn therefore cannot touch another turn's state. No callbacks, no listeners, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

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


# The parts of a table are named tuples rather than dataclasses: making those classes takes a sixth of the
# time at every start, and nobody but this module builds one.
class Guard(NamedTuple, Generic[F]):
    """One condition of an edge: `holds(facts)` must be `expected`. `name` is the predicate's own name."""

    name: str
    holds: Callable[[F], bool]
    expected: bool


class Edge(NamedTuple, Generic[S, F]):
    """One way on, as the class declares it, and where it forces somebody who cannot refuse."""

    guards: tuple[Guard[F], ...]
    target: S
    forced: S


class Decision(NamedTuple, Generic[S, E, F]):
    """A question about the facts; each answer leads to the next question or to the step."""

    holds: Callable[[F], bool]
    yes: Decision[S, E, F] | Step[S, E]
    no: Decision[S, E, F] | Step[S, E]


Node: TypeAlias = Decision[S, E, F] | Step[S, E]


class Table(NamedTuple, Generic[S, E, F]):
    """A machine as data.

    edges: state -> event -> the edges, in the order of the class; an event without an edge is not in it.
    decisions: the same for `step`: every state -> every event -> a tree that asks a predicate at most once.
    """

    name: str
    initial: S
    final: frozenset[S]
    edges: Mapping[S, Mapping[E, tuple[Edge[S, F], ...]]]
    decisions: Mapping[S, Mapping[E, Node[S, E, F]]]


def step(table: Table[S, E, F], state: S, event: E, facts: F) -> Step[S, E]:
    """Ask the table what an event does; nothing is changed, the caller keeps `after`.

    The first edge whose guards all agree is taken. Otherwise `after` is None and the first edge tells why.
    """
    node = table.decisions[state][event]
    while isinstance(node, Decision):
        node = node.yes if node.holds(facts) else node.no
    return node


def compile_table(
    machine: type[StateMachine], states: type[S], events: type[E], facts: type[F]
) -> Table[S, E, F]:
    """Read the transitions out of a machine class.

    states, events: the enums that name them; facts: the type of what the guards are given.
    Raises ValueError if class and enums do not name the same states and events: one of them was forgotten.
    """
    if {state.value for state in machine.states} != set(states):
        raise ValueError(f"{machine.__name__}: its states are not those of {states.__name__}")
    forced: Mapping[str, S] = getattr(machine, "forced", {})
    edges: dict[S, dict[E, tuple[Edge[S, F], ...]]] = {state: {} for state in states}
    for state in machine.states:
        ways = edges[states(state.value)]
        for transition in state.transitions:
            if transition.target is None or transition.is_eventless:
                raise ValueError(
                    f"{machine.__name__}: a transition from {state.id} lacks an event or a target"
                )
            target = states(transition.target.value)
            guards = tuple(_guard(condition) for condition in transition.cond)
            for name in transition.events:
                # A ValueError of the enum says which event it does not know.
                event = events(str(name))
                ways[event] = (*ways.get(event, ()), Edge(guards, target, forced.get(event, target)))
    if {event for ways in edges.values() for event in ways} != set(events):
        raise ValueError(f"{machine.__name__}: it does not have all events of {events.__name__}")
    return Table(
        name=machine.__name__,
        initial=next(states(state.value) for state in machine.states if state.initial),
        final=frozenset(states(state.value) for state in machine.states if state.final),
        edges=edges,
        decisions={
            state: {event: _decide(state, event, ways.get(event, ()), {}) for event in events}
            for state, ways in edges.items()
        },
    )


def _guard(condition: Any) -> Guard[Any]:
    """The library keeps `cond` and `unless` in one list, told apart by the value expected of them."""
    return Guard(condition.func.__name__, condition.func, condition.expected_value)


def _decide(
    state: S, event: E, edges: Sequence[Edge[S, F]], known: Mapping[str, bool]
) -> Decision[S, E, F] | Step[S, E]:
    """Grow the tree below what is already known of the predicates, by name."""
    for edge in edges:
        if any(known.get(guard.name, guard.expected) is not guard.expected for guard in edge.guards):
            continue
        unknown = next((guard for guard in edge.guards if guard.name not in known), None)
        if unknown is None:
            return Step(state, event, edge.target)
        return _ask(unknown, state, event, edges, known)
    if not edges:
        return Step(state, event, None)
    # Refused. The reasons must be complete, so what the first edge wants to know is asked to the end.
    first = edges[0]
    unknown = next((guard for guard in first.guards if guard.name not in known), None)
    if unknown is not None:
        return _ask(unknown, state, event, edges, known)
    failed = tuple(guard.name for guard in first.guards if known[guard.name] is not guard.expected)
    return Step(state, event, None, failed, first.forced)


def _ask(
    guard: Guard[F], state: S, event: E, edges: Sequence[Edge[S, F]], known: Mapping[str, bool]
) -> Decision[S, E, F]:
    return Decision(
        holds=guard.holds,
        yes=_decide(state, event, edges, {**known, guard.name: True}),
        no=_decide(state, event, edges, {**known, guard.name: False}),
    )


CONNECTION = compile_table(ConnectionMachine, ConnectionState, ConnectionEvent, ConnectionFacts)
"""The connection, as a table."""
TURN = compile_table(TurnMachine, TurnState, TurnEvent, TurnFacts)
"""A prompt turn, as a table."""
TOOL_CALL = compile_table(ToolCallMachine, ToolCallState, ToolCallEvent, ToolCallFacts)
"""A tool call, as a table."""
