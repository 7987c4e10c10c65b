"""Permission requests that stay open: what goes on meanwhile, and how they end without a choice."""

from __future__ import annotations

from typing import Final

from acp_agent.harness.asked import Answer, Asked
from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scenario import cancel_after, choose, on_permission, scenario
from acp_agent.harness.scratch import scratch
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn

_UNANSWERED: Final = "Do not answer the question; the agent takes it back by itself."
_CHOICE_S: Final = 3.0
_CANCELLED: Final = -32800
_STILL_ASKED: Final = (
    "the client lets $/cancel_request pass, as it may (R-162), and its user has not answered"
)


async def _left_open(stage: Stage, rule: str) -> tuple[StagedTurn, Asked]:
    """A turn with a permission request that the client has read and not answered."""
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    asked = turn.ask_permission("t")
    await stage.check_alive(rule, after="a permission request that nobody answers")
    if asked.is_answered:
        raise NotExercised("the permission request was answered, not left open")
    return turn, asked


async def _withdrawn(stage: Stage, asked: Asked, *rules: str) -> Answer:
    """The answer to a request that the agent takes back.

    Anybody may ignore that (R-162). The user was told not to answer, so where nothing comes the question may well
    stand: these rules are not exercised then.
    """
    stage.withdraw(asked)
    answer = await asked.answer()
    if not answer.arrived:
        for rule in rules:
            stage.not_exercised(rule, _STILL_ASKED)
    return answer


def _ends_well(answer: Answer) -> bool:
    """Whether a withdrawn request got one of the two answers it may get."""
    return answer.outcome == "cancelled" or answer.code == _CANCELLED


@scenario(
    "permission/withdrawn",
    "The agent takes a permission request back with $/cancel_request",
    rules=("R-304", "R-166", "R-170"),
    user=(on_permission("hold"),),
    ask=_UNANSWERED,
    survives=("R-170",),
)
async def withdrawn(stage: Stage) -> None:
    turn, asked = await _left_open(stage, "R-304")
    answer = await _withdrawn(stage, asked, "R-166", "R-170")
    if answer.arrived:
        legal = answer.is_result or answer.code == _CANCELLED
        stage.check("R-166", legal, "an answer all the same: a result or -32800", answer)
    if answer.outcome == "selected":
        stage.not_exercised("R-170", "the permission was answered before it could be withdrawn")
    elif answer.arrived:
        stage.check("R-170", _ends_well(answer), "the outcome cancelled, or -32800", answer)
    turn.tool_update("t", "failed")
    await stage.check_alive("R-304", after="a withdrawn permission request")
    turn.end()


@scenario(
    "permission/withdrawn-at-the-end",
    "A permission request is withdrawn and the turn ended, before its answer can come",
    rules=("R-304", "R-166"),
    user=(on_permission("hold"),),
    ask=_UNANSWERED,
)
async def withdrawn_at_the_end(stage: Stage) -> None:
    turn, asked = await _left_open(stage, "R-304")
    stage.withdraw(asked)
    turn.tool_update("t", "failed")
    turn.end(on_purpose=True)
    answer = await asked.answer()
    if stage.narrates and not answer.arrived:
        stage.not_exercised("R-166", _STILL_ASKED)
    else:
        stage.check("R-166", answer.arrived, "an answer to the request that was withdrawn", answer)


@scenario(
    "permission/turn-ends-while-open",
    "A turn ends with a permission request still open: the agent's fault, and answered all the same",
    rules=("R-304", "R-016"),
    user=(on_permission("hold"),),
    ask="Do not answer the question.",
)
async def turn_ends_while_open(stage: Stage) -> None:
    turn, asked = await _left_open(stage, "R-304")
    turn.end(on_purpose=True)
    answer = await asked.answer(_CHOICE_S)
    if not answer.arrived:
        stage.withdraw(asked)
        answer = await asked.answer()
    if stage.narrates and not answer.arrived:
        stage.not_exercised("R-016", _STILL_ASKED)
    else:
        stage.check("R-016", answer.arrived, "one answer to the permission request, whatever it is", answer)


@scenario(
    "permission/withdrawn-too-late",
    "The agent withdraws a permission request that has its answer already",
    rules=("R-167", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-167",),
)
async def withdrawn_too_late(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    asked = turn.ask_permission("t")
    answer = await asked.answer()
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    since = stage.notify("$/cancel_request", {"requestId": asked.id}, on_purpose=True)
    await stage.check_alive("R-167", after="the cancel of a request that was answered")
    stage.check_silent("R-167", since, "the cancel of a request that was answered")
    turn.tool_update("t", "completed" if answer.option_id == "yes" else "failed")
    turn.end()


@scenario(
    "permission/update-while-open",
    "The tool call changes, and even goes on, while its permission is being asked for",
    rules=("R-304", "R-016"),
    user=(on_permission("hold"),),
    ask=_UNANSWERED,
    survives=("R-016",),
)
async def update_while_open(stage: Stage) -> None:
    turn, asked = await _left_open(stage, "R-304")
    turn.tool_update("t", title="A tool, more exactly")
    turn.tool_update("t", "in_progress", on_purpose=True)
    await stage.check_alive("R-304", after="updates of a tool call whose permission is open")
    answer = await _withdrawn(stage, asked, "R-016")
    if answer.arrived:
        stage.check("R-016", True, "an answer to the request, though the tool call went on", answer)
    await stage.barrier()
    if asked.is_answered:
        once = len(asked.answers) == 1
        stage.check("R-016", once, "no more than one answer", f"{len(asked.answers)} answers")
    turn.tool_update("t", "failed", on_purpose=True)
    turn.end()


@scenario(
    "permission/update-in-the-same-write",
    "An update of the tool call follows the permission request at once",
    rules=("R-016", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-016",),
)
async def update_in_the_same_write(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="edit", status="pending")
    asked = turn.ask_permission("t")
    turn.tool_update("t", title="The same tool", rawInput={"path": "/a"})
    turn.tool_update("t", "in_progress", on_purpose=True)
    answer = await asked.answer()
    stage.check("R-016", answer.arrived, "an answer to the permission request", answer)
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    turn.tool_update("t", "completed" if answer.option_id == "yes" else "failed", on_purpose=True)
    turn.end()


@scenario(
    "permission/read-while-open",
    "The agent reads a file while a permission is being asked for",
    rules=("R-304",),
    needs=("fs.readTextFile",),
    user=(on_permission("hold"),),
    ask=_UNANSWERED,
    survives=("R-304",),
)
async def read_while_open(stage: Stage) -> None:
    turn, asked = await _left_open(stage, "R-304")
    with scratch(stage, turn) as directory:
        path = directory / "open.txt"
        path.write_text("readable\n", encoding="utf-8")
        read = await turn.call("fs/read_text_file", path=str(path)).answer()
    stage.check("R-304", read.arrived, "an answer to the read, though the permission is open", read)
    stage.withdraw(asked)
    await asked.answer()
    turn.tool_update("t", "failed")
    turn.end()


@scenario(
    "permission/no-options",
    "A permission request that offers nothing to choose from",
    rules=("R-016", "R-175"),
    ask="If there is nothing to choose, wait: the agent takes the question back.",
    survives=("R-016",),
)
async def no_options(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    asked = turn.ask_permission("t", ())
    answer = await asked.answer(_CHOICE_S)
    if not answer.arrived:
        # A person may be looking at an empty question.
        answer = await _withdrawn(stage, asked, "R-016", "R-175")
    if answer.arrived:
        stage.check("R-016", True, "an answer: an error, or the outcome cancelled", answer)
        stage.check("R-175", answer.outcome != "selected", "no choice where nothing is offered", answer)
        await stage.check_alive("R-016", after="a question without options")
    turn.tool_update("t", "failed")
    turn.end()


@scenario(
    "permission/asked-after-cancel",
    "A permission request that the agent sent before it saw the cancel",
    rules=("R-154", "R-177"),
    user=(cancel_after("chunk:1"),),
    ask="Press Stop once text appears.",
    survives=("R-154",),
)
async def asked_after_cancel(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Working ...")
    await turn.cancel()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    answer = await turn.ask_permission("t").answer()
    if turn.cancelled_by == "session/cancel":
        for rule in ("R-154", "R-177"):
            stage.check(rule, answer.outcome == "cancelled", "the outcome cancelled, without asking", answer)
    turn.tool_update("t", "failed")
    turn.end()


@scenario(
    "permission/cancel-with-several-open",
    "The turn is cancelled while three permissions are being asked for",
    rules=("R-154", "R-177"),
    user=(on_permission("hold"), on_permission("hold"), on_permission("cancel")),
    ask="Answer none of the three questions; press Stop.",
    survives=("R-154",),
)
async def cancel_with_several_open(stage: Stage) -> None:
    turn = await stage.prompt()
    names = ("one", "two", "three")
    for name in names:
        turn.tool_call(name, f"Tool {name}", kind="execute", status="pending")
    asked = [turn.ask_permission(name) for name in names]
    cancelled_at = await turn.cancel()
    for name, answer in zip(names, await stage.answers(asked), strict=True):
        if answer.arrived and answer.number < cancelled_at:
            continue
        for rule in ("R-154", "R-177"):
            ok = answer.outcome == "cancelled"
            stage.check(rule, ok, f"the outcome cancelled on the request for tool {name}", answer)
    for name in names:
        turn.tool_update(name, "failed")
    turn.end()


@scenario(
    "permission/allow-then-cancel",
    "The user allows a tool and then cancels the turn",
    rules=("R-016", "R-159"),
    user=(choose("allow_once"), cancel_after("chunk:1")),
    ask="Allow the tool, and press Stop once text appears.",
    survives=("R-159",),
)
async def allow_then_cancel(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    asked = turn.ask_permission("t")
    answer = await asked.answer()
    stage.check("R-016", answer.arrived, "an answer to the permission request", answer)
    if answer.option_id == "yes":
        turn.tool_update("t", "in_progress")
    turn.say("Working ...")
    await turn.cancel()
    turn.tool_update("t", "failed")
    await stage.check_alive("R-159", after="the last update of a tool call in a cancelled turn")
    saw = f"{len(asked.answers)} answers"
    stage.check("R-016", len(asked.answers) <= 1, "no second answer because of the cancel", saw)
    turn.end()
