"""Cancels that cross something on the wire, that are ignored, or answered late and otherwise than they should be.

What order does not prove is not judged: each script compares the numbers of what it got with those of what it sent.
"""

from __future__ import annotations

from typing import Final

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import ClientGone, NotExercised
from acp_agent.harness.scenario import cancel_after, on_end, scenario
from acp_agent.harness.scenarios.cancel import goes_on
from acp_agent.harness.scenarios.misbehaviour import prompted_again, same_process
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import CANCEL_S, StagedTurn

_STOP: Final = "Press Stop as soon as text appears, then send another message."
_GO_ON: Final = on_end("prompt", text="Go on, please.")
_AND_ON: Final = "and on, "
_CROSSING_S: Final = 10.0
_PATIENCE_S: Final = 30.0
"""How long a client may wait for the end of a turn that it has cancelled."""

_STREAM_S: Final = 0.25
_SLOW_S: Final = 2.0


def _ended_by_itself(after: Aftermath) -> None:
    display = after.display("R-161")
    if display is not None and after.notes.get("crossed"):
        shown = display.stop_reason(1)
        after.check("R-161", shown == "end_turn", "the turn's own ending, end_turn", f"{shown}")


@scenario(
    "cancel/crosses-the-end",
    "The turn ends by itself while the cancel is on its way",
    rules=("R-304",),
    display_rules=("R-161",),
    user=(cancel_after("chunk:1"), _GO_ON),
    ask=_STOP,
    aftermath=_ended_by_itself,
)
async def crosses_the_end(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Done already.")
    ended_at = turn.end("end_turn")
    await stage.expect_notification("session/cancel", _CROSSING_S, user="the cancel did not cross the end")
    stage.note("crossed", True)
    second = await stage.prompt()
    at = second.request.number
    stage.check("R-304", at > ended_at, "another prompt after a turn that ended by itself", "it came", at)
    second.say("Still here.")
    second.end()


@scenario(
    "cancel/crosses-a-permission",
    "A permission request and the cancel cross on the wire",
    rules=("R-154", "R-177"),
    user=(cancel_after("chunk:1"),),
    ask="Press Stop as soon as text appears; answer no question.",
    survives=("R-154",),
)
async def crosses_a_permission(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    turn.say("May I?")
    asked = turn.ask_permission("t")
    cancelled_at = await turn.cancel()
    answer = await asked.answer()
    # An answer that was sent before the cancel may be any choice.
    if answer.number > cancelled_at or not answer.arrived:
        for rule in ("R-154", "R-177"):
            stage.check(rule, answer.outcome == "cancelled", "the outcome cancelled", answer)
    else:
        for rule in ("R-154", "R-177"):
            stage.not_exercised(rule, "the permission was answered before the cancel")
    turn.tool_update("t", "failed")
    turn.end()


@scenario(
    "cancel/internal-error-instead",
    "A cancelled prompt is answered with -32603, because the abort broke something",
    rules=("R-305",),
    user=(cancel_after("tool_call:1"), _GO_ON),
    ask=_STOP,
    survives=("R-305",),
    aftermath=same_process,
)
async def internal_error_instead(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="in_progress")
    await turn.cancel()
    turn.fail(-32603, "Internal error", {"details": "AbortError: the operation was aborted"}, on_purpose=True)
    await prompted_again(stage)


def _second_turn_whole(after: Aftermath) -> None:
    if after.notes.get("second turn"):
        after.check_shown_whole("R-308", turn=2, crossing=_AND_ON)
    else:
        after.not_exercised("R-308", "there was no second turn in this process")


@scenario(
    "cancel/ignored",
    "The agent ignores the cancel, streams on, and answers the old prompt when the next is there",
    rules=("R-305",),
    display_rules=("R-308",),
    user=(cancel_after("chunk:1"), _GO_ON),
    ask="Press Stop once text appears. When nothing comes of it, do what your client offers: send another message, "
    "close the session, or restart the agent.",
    aftermath=_second_turn_whole,
)
async def ignored(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("I go on, ")
    cancelled_at = await turn.cancel()
    expected = "the client can be used again, though the cancel is ignored"
    try:
        second = await _prompt_while_streaming(stage, turn)
        if second is None:
            # Who answers this, and has done nothing before, had the time for it.
            await stage.barrier()
    except ClientGone:
        stage.check("R-305", True, expected, "it has given the agent up")
        return
    done = [label for label in stage.said_since(cancelled_at + 1) if not label.startswith("session/cancel")]
    saw = f"{done[0]}" if done else f"it has done nothing for {_PATIENCE_S:g} s"
    stage.check("R-305", bool(done), expected, saw)
    turn.end("cancelled", on_purpose=True)
    if second is not None:
        stage.note("second turn", True)
        second.say("A new turn, ")
        try:
            await stage.check_alive("R-305", after="the late answer to a cancelled prompt")
        except ClientGone:
            wanted = "the client goes on with its second turn after the late answer to the first"
            stage.check("R-305", False, wanted, "it closed the connection")
            raise
        second.say("to its end.")
        second.end()


async def _prompt_while_streaming(stage: Stage, turn: StagedTurn) -> StagedTurn | None:
    """Stream on until the client has had enough: its next prompt, if it sends one."""
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": _AND_ON}}
    for _ in range(int(_PATIENCE_S / _STREAM_S)):
        turn.update(chunk, on_purpose=True)
        try:
            return await stage.prompt(within_s=_STREAM_S)
        except NotExercised:
            continue
    return None


@scenario(
    "cancel/slow-to-end",
    "The agent takes two seconds to stop; the user is in a hurry",
    rules=("R-316", "R-130"),
    user=(cancel_after("chunk:2"), _GO_ON),
    ask="Press Stop once text appears, and send another message at once.",
)
async def slow_to_end(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say_all(("One, ", "two, ", "three."))
    begun_at = turn.request.number + 1
    await stage.until(lambda: stage.said_since(begun_at) != [], CANCEL_S)
    said = stage.said_since(begun_at)
    if not said:
        raise NotExercised("the turn was not cancelled")
    saw = ", ".join(said)
    stage.check("R-316", turn.is_cancelled, "a session/cancel before anything else", saw, begun_at)
    await stage.pause(_SLOW_S)
    turn.end()
    await goes_on(stage, turn, "R-130")
