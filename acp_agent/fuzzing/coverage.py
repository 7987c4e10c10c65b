"""Where the protocol's machines have been: states and transitions that were seen, of those there are.

Measured by looking at the states that the core keeps, after each line. What is possible is read from the tables that
the core steps, so that the measure knows each edge and no other. Deliberately absent: driving anything anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.machines.decision import Step, Table
from acp_agent.protocol.machines.step import CONNECTION, TOOL_CALL, TURN
from acp_agent.protocol.methods import Side
from acp_agent.protocol.sessions import ToolCall, Turn

Edge = tuple[str, str, str]
"""A machine's name, the state before, the state after (the same one, for what has only been entered)."""

_TABLES: Final[Mapping[str, Table[Any, Any, Any]]] = MappingProxyType(
    {"connection": CONNECTION, "turn": TURN, "tool call": TOOL_CALL}
)


class Measure(NamedTuple):
    """How much of one machine was seen."""

    states: int
    states_possible: int
    transitions: int
    transitions_possible: int


@cache
def possible() -> frozenset[Edge]:
    """Every change of state that a machine allows or, for answers that nobody can refuse, is forced to follow."""
    return frozenset(
        (name, str(step.before), str(after))
        for name, table in _TABLES.items()
        for step in _steps(table)
        for after in (step.after, step.forced)
        if after is not None and after != step.before
    )


def measures(edges: frozenset[Edge] | set[Edge]) -> dict[str, Measure]:
    """What a set of edges amounts to, by machine."""
    result = {}
    for name, table in _TABLES.items():
        seen = {edge for edge in edges if edge[0] == name}
        states = {state for _, before, after in seen for state in (before, after)}
        able = {edge for edge in possible() if edge[0] == name}
        result[name] = Measure(len(states), len(table.decisions), len(seen & able), len(able))
    return result


class Coverage:
    """Looks at one conversation. edges: what was seen of it."""

    def __init__(self, conversation: Conversation) -> None:
        self.edges: set[Edge] = {("connection", str(conversation.state), str(conversation.state))}
        self._conversation = conversation
        self._connection = str(conversation.state)
        self._turns: dict[int, tuple[Turn, str]] = {}
        self._calls: dict[int, tuple[ToolCall, str]] = {}

    def look(self) -> None:
        """Something was sent: what has moved?"""
        now = str(self._conversation.state)
        if now != self._connection:
            self.edges.add(("connection", self._connection, now))
            self._connection = now
        for call in self._conversation.open[Side.CLIENT]:
            if isinstance(call.subject, Turn) and id(call.subject) not in self._turns:
                self._turns[id(call.subject)] = call.subject, str(TURN.initial)
                self.edges.add(("turn", str(TURN.initial), str(TURN.initial)))
                self._look_at_calls()
        for key, (turn, before) in list(self._turns.items()):
            after = str(turn.state)
            if after != before:
                self.edges.add(("turn", before, after))
                self._turns[key] = turn, after
            if turn.state in TURN.final:
                del self._turns[key]
        if self._turns:
            self._look_at_calls()

    def _look_at_calls(self) -> None:
        for session in self._conversation.sessions.values():
            for call in session.calls.values():
                known = self._calls.get(id(call))
                before, after = known[1] if known else str(call.state), str(call.state)
                if known is None or before != after:
                    self.edges.add(("tool call", before, after))
                    self._calls[id(call)] = call, after


def _steps(table: Table[Any, Any, Any]) -> Iterator[Step[Any, Any]]:
    for events in table.decisions.values():
        for node in events.values():
            yield from _leaves(node)


def _leaves(node: Any) -> Iterator[Step[Any, Any]]:
    if isinstance(node, Step):
        yield node
    else:
        yield from _leaves(node[1])
        yield from _leaves(node[2])
