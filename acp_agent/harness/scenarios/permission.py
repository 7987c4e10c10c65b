"""Permission requests: who is asked what, how it is answered, and what a cancel does to it."""

from __future__ import annotations

from acp_agent.harness.scenario import choose, on_permission, scenario
from acp_agent.harness.stage import Stage


@scenario(
    "permission/cancel-while-open",
    "The turn is cancelled while a permission is being asked for",
    rules=("R-154", "R-177"),
    user=(on_permission("cancel"),),
    ask="Press Stop while you are asked for permission; do not answer the question.",
    survives=("R-154",),
)
async def cancel_while_open(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("edit", "Edit a file", kind="edit", status="pending")
    asked = turn.ask_permission("edit")
    await turn.cancel()
    answer = await asked.answer()
    for rule in ("R-154", "R-177"):
        stage.check(rule, answer.outcome == "cancelled", "the outcome cancelled on the open request", answer)
    turn.tool_update("edit", "failed")
    turn.end()


@scenario(
    "permission/three-at-once",
    "Three permissions are asked for in one write",
    rules=("R-016", "R-175", "R-181"),
    user=(choose("allow_once"),),
    ask="Allow all three tools once, in any order you like.",
    survives=("R-181",),
)
async def three_at_once(stage: Stage) -> None:
    turn = await stage.prompt()
    names = ("one", "two", "three")
    for name in names:
        turn.tool_call(name, f"Tool {name}", kind="execute")
    asked = [
        turn.ask_permission(
            name,
            [
                {"optionId": f"{name}-yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": f"{name}-no", "name": "Reject", "kind": "reject_once"},
            ],
        )
        for name in names
    ]
    for name, answer in zip(names, await stage.answers(asked), strict=True):
        stage.check("R-181", answer.arrived, f"an answer to the request for tool {name}", answer)
        own = answer.option_id in {f"{name}-yes", f"{name}-no"}
        stage.check("R-175", own, f"an option that was offered for tool {name}", answer)
    once = all(len(request.answers) == 1 for request in asked)
    stage.check("R-016", once, "one answer to each request", f"{[len(r.answers) for r in asked]} answers")
    for name, request in zip(names, asked, strict=True):
        allowed = request.answers and request.answers[0].option_id == f"{name}-yes"
        turn.tool_update(name, "completed" if allowed else "failed")
    turn.end()
