"""Asking the machines: the one function that steps them, and the three tables to be asked.

The library's engine takes about 90 microseconds a step; a lookup and a few predicates take a fraction of one. So what
runs is what was compiled from the classes and written into `tables.py`, and neither the library nor the classes are
imported. Every possible answer is in there: a step makes no object. A refused event is a value, not an exception: the
caller decides whether it is our own mistake or the peer's.

Deliberately absent: state. A caller keeps the state beside its own data, gives it in and stores what comes
out; a turn therefore cannot touch another turn's state. No callbacks, no listeners, no clock.
"""

from __future__ import annotations

from .decision import E, F, S, Step, Table
from .tables import CONNECTION, TOOL_CALL, TURN

__all__ = ["CONNECTION", "TOOL_CALL", "TURN", "Step", "Table", "step"]


def step(table: Table[S, E, F], state: S, event: E, facts: F) -> Step[S, E]:
    """Ask the table what an event does; nothing is changed, the caller keeps `after`.

    The first edge whose guards all agree is taken. Otherwise `after` is None and the first edge tells why.
    """
    node = table.decisions[state][event]
    while not isinstance(node, Step):
        holds, yes, no = node
        node = yes if holds(facts) else no
    return node
