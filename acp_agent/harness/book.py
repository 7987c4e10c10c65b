"""What a person's session with the harness has found so far: a report's directory, filled one scenario at a time.

An editor may start the agent again and again, and some scenarios need just that, so everything is on disk: the parts
of each scenario in a directory of its own, as a driver leaves them, and in `session.json` what is to be played next
and what has not been told yet. Deliberately absent: playing (menu.py), judging (result.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import orjson

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.part import PartFile, has_begun, read_parts
from acp_agent.harness.report import Run, write_report
from acp_agent.harness.result import ClientExit, ScenarioResult, judge
from acp_agent.harness.scenario import Scenario

PENDING_S: Final = 600.0
"""How long a scenario waits for the agent to be started again; after that it would surprise somebody."""


@dataclass(slots=True)
class Plans:
    """waiting: ids that are to be played when the agent starts, the next one first, decided at `at` (Unix seconds).

    untold: ids whose verdict nobody has heard yet.
    """

    waiting: list[str] = field(default_factory=list)
    at: float = 0.0
    untold: list[str] = field(default_factory=list)


class Book:
    """The results in a directory, which is made. Raises OSError if it cannot be written to.

    scenarios: what may be played in this session. clock: Unix seconds.
    """

    def __init__(
        self, directory: Path, scenarios: Sequence[Scenario], clock: Callable[[], float] = time.time
    ) -> None:
        self.directory = directory.absolute()
        self.scenarios = {scenario.id: scenario for scenario in scenarios}
        self._clock = clock
        self._path = self.directory / "session.json"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.plans = self._read_plans()

    # -- what is to be played when the agent starts

    def wait_for_start(self, scenarios: Sequence[Scenario]) -> None:
        """These are played by the next processes of the agent, one each, or as many as a scenario has lives."""
        self.plans.waiting = [scenario.id for scenario in scenarios]
        self.plans.at = self._clock()
        for scenario in scenarios[:1]:
            self.forget(scenario)
        self.save()

    def due(self) -> Scenario | None:
        """The scenario that a process that has just started is to play."""
        if self._clock() - self.plans.at > PENDING_S:
            self.plans.waiting.clear()
        return self.scenarios.get(self.plans.waiting[0]) if self.plans.waiting else None

    def has_been_played(self, scenario: Scenario) -> None:
        """Take it off the list once its lives are used up; the next one waits from now on."""
        played = sum(has_begun([part]) for part in read_parts(self.home(scenario)))
        if self.plans.waiting[:1] == [scenario.id] and played >= scenario.lives:
            del self.plans.waiting[0]
            self.plans.at = self._clock()
            for id_ in self.plans.waiting[:1]:
                self.forget(self.scenarios[id_])
        self.save()

    # -- results

    def home(self, scenario: Scenario) -> Path:
        """The directory of a scenario's parts."""
        return self.directory / scenario.command

    def forget(self, scenario: Scenario) -> None:
        """Remove what an earlier play has left."""
        for leftover in self.home(scenario).glob("part-*"):
            leftover.unlink(missing_ok=True)

    def begin(self, scenario: Scenario) -> PartFile:
        """The place for a new play of a scenario."""
        self.forget(scenario)
        return PartFile.claim(self.home(scenario))

    def result(self, scenario: Scenario) -> ScenarioResult:
        """What is known of a scenario by now. How the client ends is not known in an editor, nor what it shows."""
        return judge(scenario, read_parts(self.home(scenario)), ClientExit(), None)

    def run(self) -> Run:
        """All that has been played, in this session or an earlier one with the same directory."""
        every = all_scenarios()
        results = [self.result(scenario) for scenario in every if any(self.home(scenario).glob("part-*"))]
        return Run(tuple(result for result in results if result.parts), available=len(every))

    def write_report(self) -> tuple[Run, Path]:
        """The report of all that; returns it with the path of its page. Raises OSError."""
        run = self.run()
        return run, write_report(self.directory, run)

    # -- the file

    def save(self) -> None:
        """Write the plans."""
        beside = self._path.with_suffix(".tmp")
        beside.write_bytes(orjson.dumps(asdict(self.plans)))
        beside.replace(self._path)

    def _read_plans(self) -> Plans:
        try:
            plans = Plans(**orjson.loads(self._path.read_bytes()))
            waiting = [id_ for id_ in plans.waiting if id_ in self.scenarios]
            return Plans(waiting, float(plans.at), [id_ for id_ in plans.untold if id_ in self.scenarios])
        except (OSError, ValueError, TypeError):
            return Plans()  # none yet, or not one of ours: nothing is lost but a choice
