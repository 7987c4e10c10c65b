"""Earlier sessions: loaded with their history, resumed without, refused, and closed again.

Deliberately absent: what the result of a load may carry (setup.py), and lists of sessions (listing.py).
"""

from __future__ import annotations

import itertools
from typing import Any, Final

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import ClientGone, NotExercised
from acp_agent.harness.scenario import Offer, cancel_after, on_end, on_start, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn

_OLD: Final = "session/of yesterday?#1"
_LOADS: Final = Offer(capabilities={"loadSession": True})
_RESUMES: Final = Offer(capabilities={"sessionCapabilities": {"resume": {}}})
_CLOSES: Final = Offer(capabilities={"sessionCapabilities": {"close": {}}})
_MOST_ATTEMPTS: Final = 5
_PATIENCE_S: Final = 30.0
_HISTORY: Final = (
    ("user_message_chunk", "What is one and one? "),
    ("agent_message_chunk", "One and one "),
    ("agent_message_chunk", "is two. "),
    ("user_message_chunk", "And two and two? "),
    ("agent_message_chunk", "That is four."),
)


def _chunk(kind: str, text: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


async def _prompted(stage: Stage, session_id: str) -> StagedTurn:
    """The next prompt, which must be in this session."""
    turn = await stage.prompt()
    named = turn.session_id == session_id
    stage.check(
        "R-074", named, f"a prompt in {session_id!r}", f"one in {turn.session_id!r}", turn.request.number
    )
    return turn


def _replay_apart(after: Aftermath) -> None:
    """The replayed text whole and in order, and none of it in the live turn."""
    after.check_shown_whole("R-308")
    display = after.display("R-308")
    if display is None or not after.notes.get("replayed"):
        return
    for kind in ("message", "user"):
        shown, sent = display.text(kind, replay=True), after.notes["replayed"][kind]
        if shown:
            after.check(
                "R-308", shown == sent, f"the history as it was sent: {len(sent)} characters", shown[:200]
            )


def _texts(history: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """What both sides have said in a history, by the kind of the display record."""
    return {
        shown: "".join(text for kind, text in history if kind == f"{speaker}_message_chunk")
        for shown, speaker in (("message", "agent"), ("user", "user"))
    }


async def _replay(stage: Stage, history: tuple[tuple[str, str], ...]) -> str:
    """Serve a load with this history; returns the session's id."""
    load = await stage.expect("session/load", user="no session was loaded")
    session_id: str = load.params["sessionId"]
    for kind, text in history:
        stage.update(session_id, _chunk(kind, text))
    load.respond({})
    stage.note("replayed", _texts(history))
    return session_id


@scenario(
    "load/replay",
    "A session is loaded: its history first, then the answer, then a turn of today",
    rules=("R-061", "R-074", "R-126"),
    display_rules=("R-308",),
    offer=_LOADS,
    plays=("session/load",),
    user=(on_start("load", _OLD),),
    ask="Load an earlier session, then send a message.",
    survives=("R-126",),
    aftermath=_replay_apart,
)
async def replay(stage: Stage) -> None:
    load = await stage.expect("session/load", user="no session was loaded")
    session_id: str = load.params["sessionId"]
    whole = {"sessionId", "cwd", "mcpServers"} <= set(load.params)
    stage.check("R-061", whole, "sessionId, cwd and mcpServers", ", ".join(load.params), load.number)
    for kind, text in _HISTORY:
        stage.update(session_id, _chunk(kind, text))
    call = {"sessionUpdate": "tool_call", "toolCallId": "old", "title": "An old tool", "status": "completed"}
    stage.update(session_id, call)
    # Whoever prompts before the answer has come does so while this is waited for.
    await stage.barrier()
    opened_at = load.respond({})
    stage.note("replayed", _texts(_HISTORY))
    turn = await _prompted(stage, session_id)
    number = turn.request.number
    stage.check("R-126", number > opened_at, "a prompt after the session is there", "it came then", number)
    turn.say("Today one and one is still two.")
    turn.end()


@scenario(
    "load/long-history",
    "A history of two thousand pieces and three hundred tool calls, and the answer in one go with them",
    rules=("R-304", "R-074"),
    display_rules=("R-308",),
    offer=_LOADS,
    plays=("session/load",),
    user=(on_start("load", _OLD),),
    ask="Load an earlier session, then send a message.",
    survives=("R-304",),
    aftermath=_replay_apart,
)
async def long_history(stage: Stage) -> None:
    kinds = itertools.cycle(("user_message_chunk", "agent_message_chunk", "agent_message_chunk"))
    history = tuple((kind, f"{number} ") for number, kind in zip(range(2000), kinds, strict=False))
    session_id = await _replay(stage, history)
    turn = await _prompted(stage, session_id)
    stage.check("R-304", True, "a prompt after a long history", "it came", turn.request.number)
    turn.say("That was long.")
    await stage.check_alive("R-304", after="a history of two thousand pieces")
    turn.end()


@scenario(
    "load/two-sessions",
    "Two sessions are loaded one after the other; each prompt is in the one that was loaded last",
    rules=("R-074",),
    display_rules=("R-308",),
    offer=_LOADS,
    plays=("session/load",),
    user=(
        on_start("load", "first-of-two"),
        on_end("load", sessionId="second-of-two"),
        on_end("prompt", text="And here?"),
    ),
    ask="Load one session and send a message, then load another and send one there.",
    aftermath=lambda after: after.check_shown_whole("R-308", turn=2),
)
async def two_sessions(stage: Stage) -> None:
    for number in (1, 2):
        session_id = await _replay(stage, _HISTORY)
        turn = await _prompted(stage, session_id)
        turn.say(f"This is session {number}.")
        turn.end()


def _refused(method: str, code: int, offer: Offer) -> None:
    """A load or resume that fails: the client makes a new session, or gives up; it does not go on with the old id."""

    @scenario(
        f"{method}/refused-with{code}",
        f"session/{method} is answered with the error {code}; a new session works",
        rules=("R-306", "R-074"),
        offer=offer,
        plays=(f"session/{method}", "session/new"),
        user=(on_start(method, _OLD),),
        ask=f"{method.capitalize()} an earlier session; when that fails, make a new one and send a message.",
    )
    async def play(stage: Stage) -> None:
        attempts = 0
        try:
            while attempts <= _MOST_ATTEMPTS:
                request = await stage.expect_any(f"session/{method}", "session/new")
                if request is None or request.method == "session/new":
                    break
                attempts += 1
                request.fail(code, "It cannot be had", {"sessionId": request.params["sessionId"]})
        except ClientGone:
            request = None
        if not attempts:
            raise NotExercised(f"no session/{method} was asked for")
        saw = f"{attempts} attempts"
        stage.check("R-306", attempts <= _MOST_ATTEMPTS, f"no more than {_MOST_ATTEMPTS} attempts", saw)
        if request is None or request.method != "session/new":
            raise NotExercised("the client made no session instead")
        request.respond({"sessionId": "instead"})
        commands = [{"name": "help", "description": "Help"}]
        stage.update("instead", {"sessionUpdate": "available_commands_update", "availableCommands": commands})
        turn = await _prompted(stage, "instead")
        turn.say("A fresh start.")
        turn.end()


for _code in (-32002, -32601, -32602, -32603):
    _refused("load", _code, _LOADS)
_refused("resume", -32002, _RESUMES)


@scenario(
    "resume/first-turn",
    "A session is resumed, with no history but its commands, and a turn follows",
    rules=("R-066", "R-074", "R-126"),
    display_rules=("R-308",),
    offer=_RESUMES,
    plays=("session/resume",),
    user=(on_start("resume", _OLD),),
    ask="Resume an earlier session, then send a message.",
    survives=("R-126",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def first_turn(stage: Stage) -> None:
    resume = await stage.expect("session/resume", user="no session was resumed")
    session_id: str = resume.params["sessionId"]
    whole = {"sessionId", "cwd"} <= set(resume.params)
    stage.check("R-066", whole, "sessionId and cwd", ", ".join(resume.params), resume.number)
    commands = [{"name": "help", "description": "Help"}]
    stage.update(session_id, {"sessionUpdate": "available_commands_update", "availableCommands": commands})
    await stage.barrier()
    opened_at = resume.respond({})
    turn = await _prompted(stage, session_id)
    number = turn.request.number
    stage.check("R-126", number > opened_at, "a prompt after the session is there", "it came then", number)
    turn.say("Where were we?")
    turn.end()


def _close_scenario(name: str, title: str, code: int | None) -> None:
    @scenario(
        f"close/{name}",
        title,
        rules=("R-074", "R-126"),
        offer=_CLOSES,
        plays=("session/close", "session/new"),
        user=(on_end("close"), on_end("new"), on_end("prompt", text="And now?")),
        ask="When the turn has ended, close the session, make another, and send a message there.",
    )
    async def play(stage: Stage) -> None:
        (await stage.expect("session/new")).respond({"sessionId": "closed soon"})
        turn = await _prompted(stage, "closed soon")
        turn.say("Close me.")
        turn.end()
        close = await stage.expect("session/close", user="the session was not closed")
        named = close.params["sessionId"]
        stage.check("R-074", named == "closed soon", "the id of the session", named, close.number)
        if code is None:
            close.respond({})
        else:
            close.fail(code, "Resource not found", {"sessionId": named})
        (await stage.expect("session/new", user="no other session was made")).respond(
            {"sessionId": "another"}
        )
        second = await _prompted(stage, "another")
        number = second.request.number
        stage.check("R-126", second.session_id == "another", "a prompt in the new session", "it came", number)
        second.say("A new session.")
        second.end()


_close_scenario("after-a-turn", "A session is closed, and another made", None)
_close_scenario(
    "already-gone",
    "A session is closed that the agent does not know any more: it is gone all the same",
    -32002,
)


@scenario(
    "close/in-a-turn",
    "A turn that ignores its cancel is still open when its session is closed; both get their answers",
    rules=("R-074",),
    offer=_CLOSES,
    plays=("session/close",),
    user=(cancel_after("chunk:1"), on_end("close"), on_end("new"), on_end("prompt", text="And now?")),
    ask="Press Stop once text appears. It is ignored: close the session, make another, and send a message there.",
)
async def in_a_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("I don't stop.")
    await turn.cancel()
    close = await stage.expect("session/close", _PATIENCE_S, user="the session was not closed in the turn")
    named = close.params["sessionId"]
    stage.check("R-074", named == turn.session_id, f"the id {turn.session_id}", named, close.number)
    turn.end("cancelled")
    close.respond({})
    second = await stage.prompt()
    elsewhere = second.session_id != turn.session_id
    stage.check("R-074", elsewhere, "a prompt in another session", second.session_id, second.request.number)
    second.say("A new session.")
    second.end()
