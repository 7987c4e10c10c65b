"""Campaigns: budgets, what is kept for the next one, and finds that only come with a past."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_agent.fuzzing import campaign
from acp_agent.fuzzing.agent_target import AgentTarget, Outcome
from acp_agent.fuzzing.campaign import Budget, Campaign, Settings
from acp_agent.fuzzing.exchange import Deadlines
from acp_agent.fuzzing.finds import Results
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.program import Level, Program, Prompt

FIND = Finding("R-135", "update_late:plan", "too late", 3)
Verdict = Callable[[Program, bool], bool]


class Target(AgentTarget):
    """No process: a plan is judged by a function of it and of whether it has a process of its own."""

    def __init__(self, judge: Verdict) -> None:
        super().__init__(["nobody"], Path(), Deadlines())
        self.judge = judge
        self.played: list[tuple[Program, bool]] = []

    def play(self, program: Program, *, alone: bool = False) -> Outcome:
        self.played.append((program, alone))
        findings = (FIND,) if self.judge(program, alone) else ()
        return Outcome(findings, 5 + len(program.steps), 5, (), (), frozenset(), frozenset(), alone)


def prompts(program: Program) -> list[Prompt]:
    return [step.action for step in program.steps if isinstance(step.action, Prompt)]


def run(target: Target, budget: Budget, seed: int = 1, corpus: Path | None = None) -> Results:
    return Campaign(target, Settings(Level.VALID, budget, seed, ("go", "on"), corpus)).run()


def test_the_budget_of_examples_is_kept_and_shortening_is_not_part_of_it() -> None:
    """A campaign of twenty conversations has twenty, whatever else it plays."""
    target = Target(lambda program, alone: len(prompts(program)) > 1)
    results = run(target, Budget(examples=20))
    assert results.examples == 20
    assert len(target.played) > 20


def test_a_find_is_shortened_and_told_once() -> None:
    """Two prompts are needed, and nothing else is left."""
    target = Target(lambda program, alone: len(prompts(program)) > 1)
    [find] = run(target, Budget(examples=60)).finds.values()
    assert (find.messages, find.confirmed) == (7, True)


def test_a_plan_is_played_once_while_a_find_is_shortened() -> None:
    """An agent that does not always do the same must not confuse the search."""
    target = Target(lambda program, alone: len(prompts(program)) > 1)
    run(target, Budget(examples=60, until="R-135"))
    alone = [repr(program) for program, alone in target.played if alone]
    assert len(alone) == len(set(alone))


def test_what_does_not_come_again_is_told_as_such_and_not_pursued_for_ever() -> None:
    """It needs the conversations before it on the same process."""
    target = Target(lambda program, alone: not alone and len(prompts(program)) > 1)
    [find] = run(target, Budget(examples=80)).finds.values()
    assert not find.confirmed
    assert sum(alone for _, alone in target.played) == campaign._DOUBTS


def test_shortening_is_bounded() -> None:
    """By a number of plays; what was shortest by then is told."""
    target = Target(lambda program, alone: len(prompts(program)) > 1)
    [find] = run(target, Budget(examples=60, until="R-135", shrink_plays=3)).finds.values()
    assert find.confirmed
    assert sum(alone for _, alone in target.played) <= 4


@pytest.mark.parametrize("until", ["R-135", None])
def test_a_campaign_may_end_with_the_rule_that_is_looked_for(until: str | None) -> None:
    """Without it, all of the budget is used."""
    target = Target(lambda program, alone: bool(prompts(program)))
    assert (run(target, Budget(examples=50, until=until)).examples < 50) is (until is not None)


def test_the_same_seed_draws_the_same_plans() -> None:
    """And another one others."""
    drawn = []
    for seed in (1, 1, 2):
        target = Target(lambda program, alone: False)
        run(target, Budget(examples=15), seed)
        drawn.append([repr(program) for program, _ in target.played])
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_failed_once_is_tried_first_with_the_same_corpus(tmp_path: Path) -> None:
    """Whatever the seed; and it stays in there for the one after."""

    def rare(program: Program, alone: bool) -> bool:
        return len([prompt for prompt in prompts(program) if prompt.text == "on"]) > 2

    first = run(Target(rare), Budget(examples=400, until="R-135"), corpus=tmp_path / "corpus")
    assert first.finds
    for seed in (77, 78):
        again = run(Target(rare), Budget(examples=5, until="R-135"), seed, tmp_path / "corpus")
        assert [find.example for find in again.finds.values()] == [1]


def test_a_budget_of_seconds_ends_a_campaign_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at before each conversation."""
    now = iter(range(1_000))
    monkeypatch.setattr(campaign.time, "monotonic", lambda: float(next(now)))
    target = Target(lambda program, alone: False)
    results = run(target, Budget(seconds=50))
    assert 20 <= results.examples <= 50
    assert results.duration_s >= 50
