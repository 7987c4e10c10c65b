"""Scenarios as tests of a client's own suite. In its conftest.py:

    pytest_plugins = ["acp_agent.harness.pytest_plugin"]

and in a test, which is then run once for each scenario:

    def test_my_client(acp_scenario):
        acp_scenario.run(my_client)     # an async function that takes a Seat, or a command with {agent}

A FAIL fails the test with the rules, what was expected and what was seen; NOT EXERCISED and NOT APPLICABLE skip it
with the reason. `--acp-scenario ID|GROUP` chooses, `--acp-report DIR` leaves a report.
Deliberately absent: an entry point; no other project's pytest should load this by accident.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import orjson
import pytest

from acp_agent.harness.catalogue import UnknownScenario, all_scenarios, select
from acp_agent.harness.display import read_display
from acp_agent.harness.drive import Driver
from acp_agent.harness.part import read_parts
from acp_agent.harness.report import Run, write_report
from acp_agent.harness.result import ClientExit, ScenarioResult, explain, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.seat import DEFAULT_TIMEOUT_S, DISPLAY, Client, play_scenario
from acp_agent.harness.verdict import Verdict

_FIXTURE: Final = "acp_scenario"
_EXIT: Final = "exit.json"


class ScenarioUnderTest:
    """What the fixture gives: one scenario to run a client with. id, title: the scenario's."""

    def __init__(self, scenario: Scenario, directory: Path) -> None:
        self.scenario = scenario
        self.id = scenario.id
        self.title = scenario.title
        self._directory = directory

    def play(self, client: Client | str, timeout_s: float = DEFAULT_TIMEOUT_S) -> ScenarioResult:
        """Run the client and return the result, whatever it is."""
        if isinstance(client, str):
            result = Driver(client, self._directory, timeout_s).run_one(self.scenario)
        else:
            playing = play_scenario(self.scenario, client, directory=self._directory, timeout_s=timeout_s)
            result = asyncio.run(playing)
        home = self._directory / self.scenario.command
        ending = result.exit
        known = {"exit_code": ending.exit_code, "hung": ending.hung, "duration_s": ending.duration_s}
        (home / _EXIT).write_bytes(orjson.dumps({**known, "output": ending.output}))
        return result

    def run(self, client: Client | str, timeout_s: float = DEFAULT_TIMEOUT_S) -> ScenarioResult:
        """Run the client; the test fails if it does, and is skipped if nothing can be said of it.

        client: an async function that takes a Seat, or a shell command with {agent}, {prompt} and {cwd}.
        """
        result = self.play(client, timeout_s)
        if result.errors or result.verdict is Verdict.FAIL:
            pytest.fail(explain(result), pytrace=False)
        if result.verdict is not Verdict.PASS:
            # With the id: pytest joins what was skipped at one place, which is here.
            pytest.skip(f"{self.scenario.id}: {result.verdict}: {result.reason}")
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("acp", "test kit for ACP clients")
    group.addoption(
        "--acp-scenario",
        metavar="ID|GROUP",
        action="append",
        default=[],
        help="an id, an area or a pattern of the scenarios to run; may be repeated; without it: all",
    )
    group.addoption("--acp-report", metavar="DIR", type=Path, help="leave a report of the scenarios here")


def pytest_configure(config: pytest.Config) -> None:
    """A wrong name is told before anything is collected; what an earlier run has left is no result of this one."""
    try:
        select(config.getoption("--acp-scenario"))
    except UnknownScenario as error:
        raise pytest.UsageError(str(error)) from None
    directory: Path | None = config.getoption("--acp-report")
    if directory is not None and not hasattr(config, "workerinput"):
        for scenario in all_scenarios():
            (directory / scenario.command / _EXIT).unlink(missing_ok=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that uses the fixture is run for each scenario."""
    if _FIXTURE in metafunc.fixturenames:
        chosen = select(metafunc.config.getoption("--acp-scenario"))
        metafunc.parametrize(_FIXTURE, chosen, ids=[scenario.id for scenario in chosen], indirect=True)


@pytest.fixture
def acp_scenario(request: pytest.FixtureRequest, tmp_path: Path) -> ScenarioUnderTest:
    """One scenario to run a client with; the test is run for each of those that were chosen."""
    directory: Path = request.config.getoption("--acp-report") or tmp_path
    return ScenarioUnderTest(request.param, directory.absolute())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, once: with pytest-xdist the workers leave their results to the controller."""
    directory: Path | None = session.config.getoption("--acp-report")
    if directory is None or hasattr(session.config, "workerinput"):
        return
    every = all_scenarios()
    results = [_read(scenario, directory / scenario.command) for scenario in every]
    known = tuple(result for result in results if result is not None)
    write_report(directory, Run(known, available=len(every)))


def _read(scenario: Scenario, home: Path) -> ScenarioResult | None:
    try:
        ending = ClientExit(**orjson.loads((home / _EXIT).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None  # not run
    return judge(scenario, read_parts(home), ending, read_display(home / DISPLAY))
