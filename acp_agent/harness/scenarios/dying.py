"""The agent dies, in one state after the other: a client notices, and does not act as if all were well.

A client may also start the agent anew and go on; that is noticing too. Deliberately absent: what it does with a new
process (processes.py).
"""

from __future__ import annotations

from typing import Final

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import Offer, cancel_after, on_permission, on_start, scenario
from acp_agent.harness.stage import Stage
from acp_agent.jsonrpc import codec

_NOTICE_S: Final = 60.0
_DEATH: Final = "the agent's death"


def _noticed(after: Aftermath) -> None:
    if after.lives > 1 and not after.hung:
        after.check("R-301", True, f"the client notices {_DEATH}", "it started the agent again")
    else:
        after.check_noticed("R-301", _DEATH)


@scenario(
    "misbehaviour/dies-at-initialize",
    "The agent exits instead of answering initialize",
    rules=("R-301",),
    plays=("initialize",),
    aftermath=_noticed,
)
async def dies_at_initialize(stage: Stage) -> None:
    await stage.expect("initialize")
    await stage.die(exit_code=2)


@scenario(
    "misbehaviour/dies-at-session-new",
    "The agent exits instead of making a session",
    rules=("R-301",),
    plays=("session/new",),
    aftermath=_noticed,
)
async def dies_at_session_new(stage: Stage) -> None:
    await stage.expect("session/new")
    await stage.die(exit_code=1)


@scenario(
    "misbehaviour/dies-at-session-load",
    "The agent exits in the middle of a replay",
    rules=("R-301",),
    offer=Offer(capabilities={"loadSession": True}),
    plays=("session/load",),
    user=(on_start("load", "an-old-session"),),
    ask="Load any earlier session.",
    aftermath=_noticed,
)
async def dies_at_session_load(stage: Stage) -> None:
    load = await stage.expect("session/load", user="no session was loaded")
    content = {"type": "text", "text": "Once upon a time"}
    stage.update(load.params["sessionId"], {"sessionUpdate": "user_message_chunk", "content": content})
    await stage.die(exit_code=1)


@scenario(
    "misbehaviour/exits-with-0-in-a-turn",
    "The agent exits in the middle of a turn, and says that all is well",
    rules=("R-301",),
    aftermath=_noticed,
)
async def exits_with_0_in_a_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Goodbye.")
    await stage.die(exit_code=0)


@scenario(
    "misbehaviour/dies-in-a-line",
    "The agent exits in the middle of the line that would have answered the prompt",
    rules=("R-301",),
    aftermath=_noticed,
)
async def dies_in_a_line(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("It is nearly done.")
    message = {"jsonrpc": "2.0", "id": turn.id, "result": {"stopReason": "end_turn"}}
    stage.send_raw(codec.encode(message).rstrip(b"}\n"), broken_lines=1)
    await stage.die(exit_code=1)


@scenario(
    "misbehaviour/dies-while-asking",
    "The agent exits while a permission is being asked for",
    rules=("R-301",),
    user=(on_permission("hold"),),
    ask="Do not answer the question.",
    aftermath=_noticed,
)
async def dies_while_asking(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    turn.ask_permission("t")
    await stage.barrier()
    await stage.die(exit_code=1)


@scenario(
    "misbehaviour/dies-while-a-tool-runs",
    "The agent exits while a tool runs",
    rules=("R-301",),
    aftermath=_noticed,
)
async def dies_while_a_tool_runs(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="in_progress")
    await stage.barrier()
    await stage.die(exit_code=137)


@scenario(
    "misbehaviour/dies-after-cancel",
    "The agent exits instead of ending the cancelled turn",
    rules=("R-301",),
    user=(cancel_after("chunk:1"),),
    ask="Press Stop once text appears.",
    aftermath=_noticed,
)
async def dies_after_cancel(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Working ...")
    await turn.cancel()
    await stage.die(exit_code=1)


def _gave_up(after: Aftermath) -> None:
    if after.notes.get("left") is False:
        after.check("R-301", False, "the client ends what has become of it", f"nothing in {_NOTICE_S:g} s")
    else:
        _noticed(after)


@scenario(
    "misbehaviour/closes-its-output",
    "The agent closes its output in the middle of a turn, and lives on",
    rules=("R-301",),
    ask="Nothing; see that your client tells you that the agent is gone.",
    aftermath=_gave_up,
)
async def closes_its_output(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("My last words.")
    await stage.flushed()
    stage.close_output()
    stage.note("left", await stage.client_leaves(_NOTICE_S))
