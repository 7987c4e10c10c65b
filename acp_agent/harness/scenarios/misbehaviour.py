"""An agent that does wrong: the client must survive it and say so."""

from __future__ import annotations

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import ClientGone
from acp_agent.harness.scenario import cancel_after, on_end, scenario
from acp_agent.harness.stage import Stage


@scenario(
    "misbehaviour/dies-in-a-turn",
    "The agent exits in the middle of a turn",
    rules=("R-301",),
    aftermath=lambda after: after.check_noticed("R-301", "the agent's death"),
)
async def dies_in_a_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("I am not feeling well")
    await stage.die(exit_code=1)


@scenario(
    "misbehaviour/late-update",
    "A chunk of a turn comes after the turn has ended, and another turn follows",
    rules=("R-304",),
    display_rules=("R-308",),
    user=(on_end("wait"), on_end("prompt", text="Again, please.")),
    ask="When the turn has ended, wait a moment, then send another message.",
    aftermath=lambda after: after.check_shown_whole("R-308", turn=2) if after.notes.get("provable") else None,
)
async def late_update(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("The first answer.")
    turn.end()
    content = {"type": "text", "text": " Too late."}
    late = {"sessionUpdate": "agent_message_chunk", "content": content}
    stage.update(turn.session_id, late, on_purpose=True)
    read = await stage.barrier()
    read_at = stage.now_at
    second = await stage.prompt()
    # Sent before the late update was read, the prompt has crossed it: then nobody can tell whose text it is.
    if read and second.request.number >= read_at:
        stage.note("provable", True)
    else:
        stage.not_exercised("R-308", "the next prompt crossed the late update")
    second.say("The second answer.")
    await stage.check_alive("R-304", after="a late update")
    second.end()


def same_process(after: Aftermath) -> None:
    """R-305: who has left the agent because of an error and then starts it again takes a stop for a crash."""
    if after.notes.get("left after the error") and after.lives > 1:
        saw = f"the agent was started {after.lives} times"
        after.check("R-305", False, "the next prompt in the same process of the agent", saw)


async def prompted_again(stage: Stage) -> None:
    """The next prompt, after an error in answer to a cancelled one."""
    try:
        turn = await stage.prompt()
    except ClientGone:
        stage.note("left after the error", True)
        stage.not_exercised("R-305", "the client ended without another prompt")
        return
    stage.check("R-305", True, "another prompt after the error", "it came", turn.request.number)
    turn.say("Gladly.")
    turn.end()


@scenario(
    "misbehaviour/error-instead-of-cancelled",
    "A cancelled prompt is answered with an error, and the user goes on",
    rules=("R-305",),
    user=(cancel_after("chunk:2"), on_end("prompt", text="Go on, please.")),
    ask="Press Stop once text appears, then send another message.",
    survives=("R-305",),
    aftermath=same_process,
)
async def error_instead_of_cancelled(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say_all(("One, ", "two, ", "three."))
    await turn.cancel()
    turn.fail(-32800, "Request cancelled", on_purpose=True)
    await prompted_again(stage)
