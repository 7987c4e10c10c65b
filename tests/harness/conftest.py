"""Results as the harness makes them, without a client: for the tests of everything that shows them.

And time that jumps ahead where everybody waits, for the tests of everything that has deadlines.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from acp_agent.harness.part import Part
from acp_agent.harness.report import Run
from acp_agent.harness.result import ClientExit, ScenarioResult, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check, Remark

MUST, OTHER_MUST, SHOULD, INFO = "R-154", "R-175", "R-029", "R-316"


async def _no_script(stage: Stage) -> None:
    raise AssertionError("this scenario is not played")


def _conversation(length: int) -> list[Entry]:
    """client, agent, client, ... each a small message."""
    return [
        Entry(
            number, number / 100, ("client", "agent")[number % 2], f"method/{number}", f'{{"n":{number}}}', 9
        )
        for number in range(length)
    ]


@dataclass
class Maker:
    """Makes runs. `results` collects what `add` has made."""

    results: list[ScenarioResult] = field(default_factory=list)

    def add(
        self,
        id_: str,
        checks: list[Check] | None = None,
        *,
        rules: tuple[str, ...] = (MUST,),
        title: str = "A situation",
        entries: list[Entry] | None = None,
        remarks: list[Remark] | None = None,
        ending: ClientExit | None = None,
        never_started: bool = False,
        **members: Any,
    ) -> ScenarioResult:
        """One more scenario. members: of its only part, such as reason="nobody pressed Stop"."""
        part = Part(
            id_,
            1,
            begun=True,
            over=True,
            checks=[Check(MUST, True, "this", "that", 3)] if checks is None else checks,
            remarks=remarks or [],
            transcript=_conversation(12) if entries is None else entries,
            client={"name": "tested", "version": "1.5"},
            trace="trace-1.jsonl",
            **members,
        )
        parts = [] if never_started else [part]
        scenario = Scenario(id_, title, rules, _no_script)
        made = judge(scenario, parts, ending or ClientExit(0, duration_s=0.5), None)
        self.results.append(made)
        return made

    def run(self, **members: Any) -> Run:
        """All that was added, as one run."""
        started = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
        return Run(tuple(self.results), started=started, **{"duration_s": 2.5, **members})


@pytest.fixture
def maker() -> Maker:
    """An empty run to add to."""
    return Maker()


@pytest.fixture
def all_sorts(maker: Maker) -> Run:
    """A run with each verdict, a remark, a fault of the harness and a client that never started the agent."""
    maker.add("area/passes")
    maker.add(
        "area/fails",
        [Check(MUST, False, "an answer", "nothing", 5)],
        ending=ClientExit(None, True, "log", 9.0),
    )
    maker.add("area/advises", [Check(MUST, True, "a", "b"), Check(SHOULD, False, "c", "d")])
    maker.add("other/notes", [Check(MUST, True, "a", "b"), Check(INFO, False, "e", "f")])
    maker.add("other/waits", [], reason="nobody pressed Stop", remarks=[Remark("Strange.", 2)])
    maker.add("other/lacks", [], applicable=False, reason="no terminals")
    maker.add("other/broken", [], reason="", error="the harness failed in the script")
    maker.add("other/silent", never_started=True)
    return maker.run(command="client {agent}", available=9)


@pytest.fixture
def entries_of() -> Callable[[int], list[Entry]]:
    """Makes a conversation of a length."""
    return _conversation


class JumpingSelector(selectors.DefaultSelector):
    """Where nothing is to be done, its clock goes ahead to the time when something is."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop that never waits."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


@pytest.fixture(scope="session")
def run_in_no_time() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine whose waits take no time."""

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            return runner.run(main)

    return run
