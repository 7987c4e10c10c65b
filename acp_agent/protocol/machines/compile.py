"""Reading the machine classes: their transitions as plain edges, and the table of decisions made of the edges.

Owns what a table must say, and the comparison of class and enums: a state or an event that one of them forgot ends
here. Used by `generate.py`, which writes the tables down, and by tests, which compare.

Deliberately absent: a start of the product. This imports the library; what the product imports was written before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias

from statemachine import StateMachine

from .classes import ConnectionMachine, ToolCallMachine, TurnMachine
from .connection import ConnectionEvent, ConnectionFacts, ConnectionState
from .decision import E, F, Node, S, Step, Table
from .tool_call import ToolCallEvent, ToolCallFacts, ToolCallState
from .turn import TurnEvent, TurnFacts, TurnState


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


Edges: TypeAlias = "Mapping[S, Mapping[E, tuple[Edge[S, F], ...]]]"


class Compiled(NamedTuple, Generic[S, E, F]):
    """A machine class, read.

    states, events, facts: the enums and the type of what the guards are given.
    edges: state -> event -> the edges, in the order of the class; an event without an edge is not in it.
    table: the same as decisions, for `step`.
    """

    machine: type[StateMachine]
    states: type[S]
    events: type[E]
    facts: type[F]
    edges: Edges[S, E, F]
    table: Table[S, E, F]


def compile_machine(
    machine: type[StateMachine], states: type[S], events: type[E], facts: type[F]
) -> Compiled[S, E, F]:
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
    table = Table(
        name=machine.__name__,
        initial=next(states(state.value) for state in machine.states if state.initial),
        final=frozenset(states(state.value) for state in machine.states if state.final),
        decisions={
            state: {event: _decide(state, event, ways.get(event, ()), {}) for event in events}
            for state, ways in edges.items()
        },
    )
    return Compiled(machine, states, events, facts, edges, table)


def _guard(condition: Any) -> Guard[Any]:
    """The library keeps `cond` and `unless` in one list, told apart by the value expected of them."""
    return Guard(condition.func.__name__, condition.func, condition.expected_value)


def _decide(state: S, event: E, edges: Sequence[Edge[S, F]], known: Mapping[str, bool]) -> Node[S, E, F]:
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
) -> Node[S, E, F]:
    yes = _decide(state, event, edges, {**known, guard.name: True})
    no = _decide(state, event, edges, {**known, guard.name: False})
    return guard.holds, yes, no


MACHINES: Mapping[str, Compiled[Any, Any, Any]] = {
    "CONNECTION": compile_machine(ConnectionMachine, ConnectionState, ConnectionEvent, ConnectionFacts),
    "TURN": compile_machine(TurnMachine, TurnState, TurnEvent, TurnFacts),
    "TOOL_CALL": compile_machine(ToolCallMachine, ToolCallState, ToolCallEvent, ToolCallFacts),
}
"""All three, by the name their table has in `tables.py`."""
