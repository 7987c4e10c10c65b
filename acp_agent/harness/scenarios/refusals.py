"""An agent that refuses: how often it is asked again, and what its errors may carry."""

from __future__ import annotations

from typing import Any, Final

from acp_agent.harness.endings import ClientGone, NotExercised
from acp_agent.harness.scenario import Offer, on_end, scenario
from acp_agent.harness.stage import Stage

_QUIET_S: Final = 3.0
"""A client that has asked nothing for so long has given up, or asks its user."""

_MOST_ATTEMPTS: Final = 10
_ERRORS: Final[tuple[tuple[int, str, Any], ...]] = (
    (-32603, "Internal error", "a string: the model could not be reached"),
    (-32603, "Internal error", {"details": "an object", "nested": {"depth": [1, 2, {"three": None}]}}),
    (-32603, "", ["a list", 1, None, {"of": "things"}]),
    (-32002, "Resource not found", {"sessionId": "not this one", "uri": "file:///gone"}),
    (1, "a code nobody has heard of", 42),
    (-99999, "two\nlines, and a tab\there: ü€🚀", False),
    (-32603, "a very long message " * 2000, {"stack": "at line 1\n" * 1000}),
)


@scenario(
    "misbehaviour/refuses-every-session",
    "Every session/new is answered with an error",
    rules=("R-306",),
    plays=("session/new",),
)
async def refuses_every_session(stage: Stage) -> None:
    attempts = 0
    try:
        while attempts <= _MOST_ATTEMPTS:
            request = await stage.expect_any("session/new", within_s=_QUIET_S if attempts else 20.0)
            if request is None:
                break
            attempts += 1
            request.fail(-32603, "Internal error", {"details": "no session today"})
    except ClientGone:
        pass
    if not attempts:
        raise NotExercised("the client asked for no session")
    saw = f"{attempts} attempts"
    stage.check("R-306", attempts <= _MOST_ATTEMPTS, f"no more than {_MOST_ATTEMPTS} attempts", saw)


@scenario(
    "misbehaviour/errors-with-data",
    "Turn after turn fails, with errors of all codes that carry data of all kinds",
    rules=("R-304",),
    user=tuple(on_end("prompt", text=f"Attempt {number}.") for number in range(2, len(_ERRORS) + 2)),
    ask=f"Send {len(_ERRORS) + 1} messages, each when the turn before has failed.",
)
async def errors_with_data(stage: Stage) -> None:
    for number, (code, message, data) in enumerate(_ERRORS):
        # That the turn before is over shows in the next one.
        turn = await stage.prompt(or_breaks="R-304" if number and not stage.narrates else None)
        turn.say("Trying ...")
        turn.fail(code, message, data)
        try:
            await stage.check_alive(
                "R-304", after=f"an error {code} with data of the kind {type(data).__name__}"
            )
        except ClientGone as gone:
            raise NotExercised("the client ended after a turn that had failed") from gone
    last = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    last.say("Now it works.")
    last.end()


@scenario(
    "misbehaviour/login-needed-in-a-turn",
    "A turn that has run a tool fails with -32000, and again, as often as it is tried",
    rules=("R-306",),
    offer=Offer(auth_methods=({"id": "token", "name": "API token"},)),
    plays=("authenticate",),
    ask="Log in if you are asked to; send nothing again yourself.",
)
async def login_needed_in_a_turn(stage: Stage) -> None:
    prompts = logins = 0
    try:
        while prompts <= _MOST_ATTEMPTS:
            request = await stage.expect_any(
                "session/prompt", "authenticate", within_s=_QUIET_S if prompts else 20.0
            )
            if request is None:
                break
            if request.method == "authenticate":
                logins += 1
                request.respond({})
                continue
            prompts += 1
            update = {
                "sessionUpdate": "tool_call",
                "toolCallId": f"t{prompts}",
                "title": "It has run already",
            }
            stage.update(request.params["sessionId"], {**update, "kind": "execute", "status": "completed"})
            request.fail(-32000, "Authentication required")
    except ClientGone:
        pass
    if not prompts:
        raise NotExercised("the client sent no prompt")
    saw = f"{prompts} prompts and {logins} logins"
    stage.check("R-306", prompts <= _MOST_ATTEMPTS, f"no more than {_MOST_ATTEMPTS} prompts", saw)
    stage.note("prompts", prompts)
