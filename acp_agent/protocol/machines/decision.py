"""What a compiled machine is made of: a table of decisions, and the steps they lead to.

Deliberately absent: the three tables (`tables.py`), the function that asks them (`step.py`), and how they come about
(`compile.py`). No library, because every start imports this.
"""

# Every start of the agent makes these classes and those of the facts, and pays for it: a frozen dataclass with slots
# takes some five times as long to make as a named tuple, and that three times as long as a plain class. String
# annotations would add half to a named tuple.
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)
F = TypeVar("F")


class Step(NamedTuple, Generic[S, E]):
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


Node: TypeAlias = "Step[S, E] | tuple[Callable[[F], bool], Node[S, E, F], Node[S, E, F]]"
"""What a table has for a state and an event: the step, or a question about the facts and where yes and no lead."""


class Table(Generic[S, E, F]):
    """A machine as data. There are three, made once; nothing of them is ever assigned again.

    name: that of its class. initial, final: where it begins, and the states that no event leads out of.
    decisions: every state -> every event -> the step, or a tree that asks a predicate at most once on the way to it.
    """

    __slots__ = ("decisions", "final", "initial", "name")

    def __init__(
        self, name: str, initial: S, final: frozenset[S], decisions: Mapping[S, Mapping[E, "Node[S, E, F]"]]
    ) -> None:
        self.name: Final = name
        self.initial: Final = initial
        self.final: Final = final
        self.decisions: Final = decisions
