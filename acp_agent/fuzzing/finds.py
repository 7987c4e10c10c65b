"""What a campaign has found: one find for each rule and shape, with the shortest exchange that shows it.

Deliberately absent: playing and shortening (campaign.py), files (report.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from acp_agent.fuzzing.coverage import Edge, Measure, measures
from acp_agent.fuzzing.exchange import Slice
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.program import Level
from acp_agent.protocol.rules import RULES, Rule

Key = tuple[str, str]
"""The rule and the shape."""


class Find(NamedTuple):
    """One find. finding: as it was seen in `slices`, the whole exchange of `messages` lines.

    example: the number of the conversation that showed it first. confirmed: it came again on a process of its own;
    otherwise it needs what was said before, and the exchange is that whole connection.
    """

    finding: Finding
    slices: tuple[Slice, ...]
    messages: int
    example: int
    confirmed: bool

    @property
    def rule(self) -> Rule:
        """The rule that is broken."""
        return RULES[self.finding.rule]

    @property
    def name(self) -> str:
        """A name for files: the rule and the shape in letters, digits and hyphens."""
        words = "".join(char if char.isascii() and char.isalnum() else "-" for char in self.finding.shape)
        return f"{self.finding.rule}-{'-'.join(part for part in words.split('-') if part)}"[:80]


@dataclass
class Results:
    """What a campaign did and found. seed: draws the same plans again, if the agent does the same again."""

    level: Level
    seed: int
    examples: int = 0
    messages: int = 0
    processes: int = 0
    duration_s: float = 0.0
    finds: dict[Key, Find] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)

    def note(self, find: Find) -> None:
        """Keep a find unless a shorter or surer one of its kind is known; the first example's number stays."""
        known = self.finds.get(find.finding.key)
        if known is not None:
            find = find._replace(example=min(find.example, known.example))
            if (not known.confirmed, known.messages, len(known.slices)) <= (
                not find.confirmed,
                find.messages,
                len(find.slices),
            ):
                find = known._replace(example=find.example)
        self.finds[find.finding.key] = find

    def add(self, other: Results) -> None:
        """Take in what another worker did."""
        self.examples += other.examples
        self.messages += other.messages
        self.processes += other.processes
        self.duration_s = max(self.duration_s, other.duration_s)
        self.edges |= other.edges
        self.rules |= other.rules
        self.own |= other.own
        for find in other.finds.values():
            self.note(find)

    @property
    def coverage(self) -> dict[str, Measure]:
        """How much of each machine was seen."""
        return measures(self.edges)

    def sorted_finds(self) -> list[Find]:
        """The finds by the weight of their rules, then by their names."""
        return sorted(self.finds.values(), key=lambda find: (not find.rule.tier.decides, find.name))


def merged(all_results: Iterable[Results]) -> Results:
    """What several workers did, as one."""
    first, *others = all_results
    for other in others:
        first.add(other)
    return first
