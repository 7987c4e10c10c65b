"""A campaign: Hypothesis draws plans until the budget is spent, and shortens each new kind of find.

In rounds, since Hypothesis ends with its first failure: a round explores, many plans on one process; what fails is
played again on a process of its own, and from there on every plan is, until the shortest is found. What was found is
settled and fails no more. While it shortens, a plan that was played is not played twice, so that an agent which does
not always do the same does not confuse the search.
Deliberately absent: one plan (player.py), the processes (agent_target.py), several workers (workers.py).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisException

from acp_agent.fuzzing.agent_target import AgentTarget, Outcome
from acp_agent.fuzzing.finds import Find, Key, Results
from acp_agent.fuzzing.model import DEFAULT_PROMPTS, programs
from acp_agent.fuzzing.program import Level, Program

DEFAULT_SHRINK_S: Final = 60.0
DEFAULT_SHRINK_PLAYS: Final = 400

_DOUBTS: Final = 3
"""So often a find may fail to come again on a process of its own before nobody tries any more."""
_ROUND_EXAMPLES: Final = 100_000
_ALL_PHASES: Final = (Phase.reuse, Phase.generate, Phase.shrink)
_NEW_PHASES: Final = (Phase.generate, Phase.shrink)


class Budget(NamedTuple):
    """When a campaign is over: after so many plans, or so many seconds; None for no limit.

    until: or when this rule was found broken, for certain. shrink_s, shrink_plays: how much the shortening of one find
    may take beside that.
    """

    examples: int | None = None
    seconds: float | None = None
    until: str | None = None
    shrink_s: float = DEFAULT_SHRINK_S
    shrink_plays: int = DEFAULT_SHRINK_PLAYS


class Settings(NamedTuple):
    """What a campaign is about. corpus: a directory of Hypothesis's example database, which may be shared."""

    level: Level
    budget: Budget
    seed: int
    prompts: tuple[str, ...] = DEFAULT_PROMPTS
    corpus: Path | None = None


class _Found(Exception):
    """A plan shows a find that is looked for."""


class _Spent(BaseException):
    """The budget is used up: no failure of a plan."""


class Campaign:
    """One campaign with one target. on_example is called after each plan with what is known by then."""

    def __init__(
        self, target: AgentTarget, how: Settings, on_example: Callable[[Results], None] | None = None
    ) -> None:
        self.results = Results(how.level, how.seed)
        self._target = target
        self._how = how
        self._on_example = on_example
        self._start = time.monotonic()
        self._settled: set[Key] = set()
        self._doubted: Counter[Key] = Counter()
        self._hunted: Key | None = None
        self._hunt_began = 0.0
        self._hunt_plays = 0
        self._shortest: tuple[tuple[int, int], Program] | None = None
        self._played: dict[str, frozenset[Key]] = {}

    def run(self) -> Results:
        """Everything, within the budget. Raises CannotStartAgent."""
        number = 0
        try:
            while not self._is_spent():
                self._round(number)
                number += 1
        except _Spent:
            pass
        finally:
            self._target.close()
        self.results.processes = self._target.processes
        self.results.duration_s = time.monotonic() - self._start
        return self.results

    def _round(self, number: int) -> None:
        """Explore until something new was found and shortened."""
        corpus = self._how.corpus
        configured = settings(
            max_examples=_ROUND_EXAMPLES,
            database=None if corpus is None else DirectoryBasedExampleDatabase(corpus),
            # What is settled does not fail again, and Hypothesis would throw it out of the corpus.
            phases=_NEW_PHASES if number else _ALL_PHASES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )

        @configured  # last, for `seed` takes the database away
        @seed(self._how.seed + number)
        @given(programs(self._how.level, self._how.prompts))
        def conversation(program: Program) -> None:
            # Raised in one place: to Hypothesis another place would be another failure.
            if self._shows_a_find(program):
                raise _Found

        try:
            conversation()
        except _Found:
            self._trim()
        except HypothesisException:
            # An agent that does not do the same again: what was seen of it is in the results.
            if self._hunted is None:
                raise
        finally:
            self._settled |= {key for key, find in self.results.finds.items() if find.confirmed}
            self._hunted = self._shortest = None
            self._played.clear()

    def _shows_a_find(self, program: Program) -> bool:
        return self._explore(program) if self._hunted is None else self._hunt(program, self._hunted)

    def _explore(self, program: Program) -> bool:
        if self._is_spent():
            raise _Spent
        outcome = self._target.play(program)
        self._count(outcome)
        new = [finding.key for finding in outcome.findings if finding.key not in self._settled]
        if new and not outcome.alone:
            again = self._target.play(program, alone=True)
            repeated = [finding.key for finding in again.findings if finding.key not in self._settled]
            if not repeated:
                self._note(outcome, confirmed=False)
                self._doubted.update(new)
                self._settled |= {key for key in new if self._doubted[key] >= _DOUBTS}
            outcome, new = again, repeated
        self._tell()
        if new:
            self._note(outcome, confirmed=True)
            self._played[repr(program)] = _keys(outcome)
            self._hunted, self._hunt_began, self._hunt_plays = new[0], time.monotonic(), 0
            self._keep_shortest(outcome, program)
        return bool(new)

    def _hunt(self, program: Program, key: Key) -> bool:
        known = self._played.get(repr(program))
        if known is None:
            budget = self._how.budget
            late = time.monotonic() - self._hunt_began > budget.shrink_s
            if late or self._hunt_plays >= budget.shrink_plays:
                return False
            known = self._play_again(program, key)
        return key in known

    def _play_again(self, program: Program, key: Key) -> frozenset[Key]:
        """Play a plan on a process of its own; what it shows is kept, and the plan if it is the shortest yet."""
        self._hunt_plays += 1
        outcome = self._target.play(program, alone=True)
        known = self._played[repr(program)] = _keys(outcome)
        self.results.edges |= outcome.edges
        self._tell()
        if key in known:
            self._note(outcome, confirmed=True)
            self._keep_shortest(outcome, program)
        return known

    def _keep_shortest(self, outcome: Outcome, program: Program) -> None:
        size = outcome.messages, len(program.steps)
        if self._shortest is None or size < self._shortest[0]:
            self._shortest = size, program

    def _trim(self) -> None:
        """Leave out single steps of what Hypothesis has left, which takes passages for one thing."""
        if self._hunted is None or self._shortest is None:
            return
        number = 0
        while number < len(self._shortest[1].steps):
            program = self._shortest[1]
            shorter = replace(program, steps=program.steps[:number] + program.steps[number + 1 :])
            if repr(shorter) not in self._played:
                self._hunt(shorter, self._hunted)
            # If it has become the shortest, another step stands at this place now.
            number += self._shortest[1] is program

    def _note(self, outcome: Outcome, *, confirmed: bool) -> None:
        for finding in outcome.findings:
            if finding.key not in self._settled:
                find = Find(finding, outcome.slices, outcome.messages, self.results.examples, confirmed)
                self.results.note(find)

    def _count(self, outcome: Outcome) -> None:
        self.results.examples += 1
        self.results.messages += outcome.new_messages
        self.results.edges |= outcome.edges
        self.results.rules |= outcome.rules
        if self._how.level is Level.VALID:
            self.results.own |= set(outcome.own)

    def _tell(self) -> None:
        if self._on_example is not None:
            self._on_example(self.results)

    def _is_spent(self) -> bool:
        budget = self._how.budget
        if budget.examples is not None and self.results.examples >= budget.examples:
            return True
        if any(find.confirmed and find.rule.id == budget.until for find in self.results.finds.values()):
            return True
        return budget.seconds is not None and time.monotonic() - self._start >= budget.seconds


def _keys(outcome: Outcome) -> frozenset[Key]:
    return frozenset(finding.key for finding in outcome.findings)


def run_campaign(
    command: Sequence[str],
    root: Path,
    how: Settings,
    target: Callable[[Sequence[str], Path], AgentTarget],
    on_example: Callable[[Results], None] | None = None,
) -> Results:
    """A campaign with a target of its own. root: the directory that sessions work in; it gets a file `note.txt`."""
    (root / "note.txt").write_text("a note\n", encoding="utf-8")
    return Campaign(target(command, root), how, on_example).run()
