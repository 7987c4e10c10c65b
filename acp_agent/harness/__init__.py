"""The client harness as a library: play scenarios with an ACP client and look at what came of them.

    result = await play_scenario("permission/reject", client)         a client in this process
    results = Driver("my-client {agent} {prompt} {cwd}", Path("report")).run(select(["permission"]))

What is named here stays; all else may change. The pages: docs/harness.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from acp_agent.harness.catalogue import UnknownScenario as UnknownScenario
    from acp_agent.harness.catalogue import all_scenarios as all_scenarios
    from acp_agent.harness.catalogue import select as select
    from acp_agent.harness.drive import Driver as Driver
    from acp_agent.harness.report import Run as Run
    from acp_agent.harness.report import write_report as write_report
    from acp_agent.harness.result import ScenarioResult as ScenarioResult
    from acp_agent.harness.result import explain as explain
    from acp_agent.harness.scenario import Scenario as Scenario
    from acp_agent.harness.seat import RunningAgent as RunningAgent
    from acp_agent.harness.seat import Seat as Seat
    from acp_agent.harness.seat import play_scenario as play_scenario
    from acp_agent.harness.verdict import Conclusion as Conclusion
    from acp_agent.harness.verdict import Verdict as Verdict

_HOMES: Final = {
    "Conclusion": "verdict",
    "Driver": "drive",
    "Run": "report",
    "RunningAgent": "seat",
    "Scenario": "scenario",
    "ScenarioResult": "result",
    "Seat": "seat",
    "UnknownScenario": "catalogue",
    "Verdict": "verdict",
    "all_scenarios": "catalogue",
    "explain": "result",
    "play_scenario": "seat",
    "select": "catalogue",
    "write_report": "report",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # An agent of a scenario is started hundreds of times in a run, and needs few of these.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
