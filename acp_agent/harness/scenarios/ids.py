"""Ids of requests: their types, their values, and the two spaces of them."""

from __future__ import annotations

from acp_agent.harness.scenario import choose, scenario
from acp_agent.harness.stage import Stage


@scenario(
    "ids/equal-to-the-clients",
    "The agent's request has the id of the client's own open request",
    rules=("R-016", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-016",),
)
async def equal_to_the_clients(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute")
    asked = turn.ask_permission("t", request_id=turn.id)
    answer = await asked.answer()
    stage.check("R-016", answer.arrived, "an answer to the agent's request", answer)
    offered = answer.option_id in {"yes", "no"}
    stage.check("R-175", offered, "one of the offered options", answer)
    turn.tool_update("t", "completed" if answer.option_id == "yes" else "failed")
    turn.end()
