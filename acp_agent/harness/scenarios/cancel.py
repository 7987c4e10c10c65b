"""Cancelling a turn in each of its states: the client says so once, listens to the end, and goes on.

Deliberately absent: open permission requests (permission.py, permission_open.py), and cancels that cross something on
the wire or are ignored (cancel_races.py).
"""

from __future__ import annotations

from collections.abc import Callable

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import ClientGone, NotExercised
from acp_agent.harness.scenario import cancel_after, on_end, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import CANCEL_S, StagedTurn

_STOP = "Press Stop once you see something happen, then send another message."
_GO_ON = on_end("prompt", text="Go on, please.")


def _not_a_failure(after: Aftermath) -> None:
    """R-258: what the user has stopped is not shown as something that broke."""
    display = after.display("R-258")
    if display is None:
        return
    if not after.notes.get("cancelled"):
        after.not_exercised("R-258", "the turn was not cancelled")
        return
    errors = display.of("error", 1)
    shown = errors[0].get("text") if errors else f"the end: {display.stop_reason(1)}"
    after.check("R-258", not errors, "the end of the cancelled turn is no error on the screen", shown)


def _last_words(after: Aftermath) -> None:
    after.check_shown_whole("R-308")
    _not_a_failure(after)


async def goes_on(stage: Stage, turn: StagedTurn, rule: str) -> None:
    """The next prompt must come when the cancelled turn has its answer, in the same session, and gets its own."""
    ended_at = stage.now_at - 1
    stage.note("cancelled", turn.is_cancelled)
    try:
        second = await stage.prompt()
    except ClientGone as gone:
        raise NotExercised("the client ended without another prompt") from gone
    number = second.request.number
    saw = "it came before" if number < ended_at else "it came after it"
    stage.check(rule, number > ended_at, "the next prompt after the answer to the cancelled one", saw, number)
    second.say("Gladly.")
    second.end()


def _working(turn: StagedTurn) -> None:
    turn.tool_call("t", "A long tool", kind="execute", status="in_progress")


def _planning(turn: StagedTurn) -> None:
    turn.plan("Think", "Act")
    turn.think("Thinking about it ...")


def _talking(turn: StagedTurn) -> None:
    turn.say_all(("One, ", "two, ", "three, "))


def _in_state(name: str, title: str, begin: Callable[[StagedTurn], None], when: str) -> None:
    """A scenario for a turn in one state: begun, cancelled, and ended as the protocol wants it."""

    @scenario(
        f"cancel/{name}",
        title,
        rules=("R-074", "R-130"),
        display_rules=("R-258",),
        user=(cancel_after(when), _GO_ON),
        ask=_STOP,
        survives=("R-159",),
        aftermath=_not_a_failure,
    )
    async def play(stage: Stage) -> None:
        turn = await stage.prompt()
        begin(turn)
        params = await stage.expect_notification(
            "session/cancel", CANCEL_S, user="the turn was not cancelled"
        )
        named = params["sessionId"]
        stage.check("R-074", named == turn.session_id, f"a cancel of {turn.session_id}", named)
        if begin is _working:
            turn.tool_update("t", "failed")
        turn.end()
        await goes_on(stage, turn, "R-130")


_in_state("at-once", "Cancelled as soon as the prompt is sent", lambda turn: None, "ms:0")
_in_state("before-anything", "Cancelled before the agent has said anything", lambda turn: None, "ms:300")
_in_state("while-talking", "Cancelled in the middle of a message", _talking, "chunk:2")
_in_state("while-thinking", "Cancelled while the agent plans and thinks", _planning, "thought:1")
_in_state("while-a-tool-runs", "Cancelled while a tool runs", _working, "tool_call:1")


@scenario(
    "cancel/last-updates",
    "Between the cancel and the end of the turn come the last updates: of two tools, and a last sentence",
    rules=("R-159", "R-130"),
    display_rules=("R-308", "R-258"),
    user=(cancel_after("tool_call:2"), _GO_ON),
    ask=_STOP,
    survives=("R-159",),
    aftermath=_last_words,
)
async def last_updates(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Two tools at once. ")
    for call in ("fails", "completes"):
        turn.tool_call(call, f"A tool that {call}", kind="execute", status="in_progress")
    await turn.cancel()
    content = {"type": "content", "content": {"type": "text", "text": "interrupted"}}
    turn.tool_update("fails", "failed", content=[content])
    # It had ended when the cancel came: legal, and the turn is cancelled all the same.
    turn.tool_update("completes", "completed", rawOutput={"lines": 3})
    turn.say("Stopped, as you wished.")
    await stage.check_alive("R-159", after="updates that follow a cancel")
    turn.end()
    await goes_on(stage, turn, "R-130")


@scenario(
    "cancel/many-updates-after",
    "The agent takes its time to stop: two hundred chunks after the cancel",
    rules=("R-304", "R-130"),
    display_rules=("R-308",),
    user=(cancel_after("chunk:3"), _GO_ON),
    ask=_STOP,
    survives=("R-159",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def many_updates_after(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say_all(f"{number} " for number in range(5))
    await turn.cancel()
    turn.say_all(f"{number} " for number in range(200))
    await stage.check_alive("R-304", after="two hundred chunks in a cancelled turn")
    turn.end()
    await goes_on(stage, turn, "R-130")


_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")


def _told_apart(after: Aftermath) -> None:
    display = after.display("R-138", "R-258")
    if display is None:
        return
    for turn, reason in enumerate(_REASONS, start=1):
        if turn > after.notes.get("ended", 0):
            return
        rule = "R-258" if reason == "cancelled" else "R-138"
        shown = display.stop_reason(turn)
        after.check(rule, shown == reason, f"the end of turn {turn} is shown as {reason}", f"{shown}")


@scenario(
    "cancel/five-stop-reasons",
    "Five turns that end for five reasons, the last because it was cancelled",
    rules=("R-304",),
    display_rules=("R-138", "R-258"),
    user=(
        *(on_end("prompt", text=f"Prompt {number}.") for number in range(2, 6)),
        cancel_after("chunk:1"),
    ),
    ask="Send five messages, each when the turn before has ended; press Stop when you are told to.",
    aftermath=_told_apart,
)
async def five_stop_reasons(stage: Stage) -> None:
    for number, reason in enumerate(_REASONS, start=1):
        turn = await stage.prompt()
        if number > 1:
            before = _REASONS[number - 2]
            at = turn.request.number
            stage.check("R-304", True, f"another prompt after a turn that ended with {before}", "it came", at)
        if reason == "cancelled":
            turn.say("Press Stop now.")
            await turn.cancel()
        turn.end(reason)
        stage.note("ended", number)
