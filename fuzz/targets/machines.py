"""The tables that run say at every step of any walk what the library's own engine says of the machine classes.

A refused event is a value in the tables and TransitionNotAllowed in the engine; nothing else is raised.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from reference.engine import engine_state, engine_step

from acp_agent.protocol.machines import tables
from acp_agent.protocol.machines.compile import MACHINES
from acp_agent.protocol.machines.step import step


@st.composite
def walks(draw: st.DrawFn) -> dict[str, Any]:
    """A machine, and events with the facts of the moment; counts are counts, and often none."""
    name = draw(st.sampled_from(sorted(MACHINES)))
    events = st.sampled_from([str(event) for event in MACHINES[name].events])
    facts = st.lists(
        st.sampled_from([0, 0, 1, 2, False, True]),
        min_size=len(MACHINES[name].facts._fields),
        max_size=len(MACHINES[name].facts._fields),
    )
    return {"machine": name, "walk": draw(st.lists(st.tuples(events, facts), max_size=40))}


cases = walks()


def check(case: Any) -> None:
    """Walk with both."""
    read = MACHINES[case["machine"]]
    table = getattr(tables, case["machine"])
    state = table.initial
    engine = read.machine()
    for name, given in case["walk"]:
        event, facts = read.events(name), read.facts(*given)
        taken = step(table, state, event, facts)
        assert taken.after == engine_step(engine, event, facts)
        assert (taken.before, taken.event) == (state, event)
        assert taken.after is None or not taken.failed_guards
        state = state if taken.after is None else taken.after
        assert engine_state(engine) == state
