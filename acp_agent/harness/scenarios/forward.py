"""Forward compatibility: what a later protocol, or another vendor, may send to a client of today."""

from __future__ import annotations

from acp_agent.harness.scenario import scenario
from acp_agent.harness.stage import Stage


@scenario(
    "forward/unknown-update",
    "An update of a kind that does not exist yet, between two known ones",
    rules=("R-303", "R-015"),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def unknown_update(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("before ")
    since = turn.update({"sessionUpdate": "zz_future", "x": 1}, on_purpose=True)
    turn.say("after")
    await stage.check_alive("R-303", after="an update of an unknown kind")
    stage.check_silent("R-015", since, "an update")
    turn.end()


@scenario(
    "forward/unknown-request",
    "A request that the protocol does not have, and one of another vendor",
    rules=("R-251", "R-252"),
    survives=("R-252",),
)
async def unknown_request(stage: Stage) -> None:
    turn = await stage.prompt()
    for method in ("_example.org/ask", "session/zz_future"):
        asked = stage.call(method, {"sessionId": turn.session_id}, on_purpose=True)
        answer = await stage.check_error("R-252", asked, -32601)
        stage.check("R-251", answer.arrived, f"an answer to {method}", answer)
    turn.end()
