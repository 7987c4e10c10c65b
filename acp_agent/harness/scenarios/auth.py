"""Login: who starts it, with what, and how often a client that is refused tries again."""

from __future__ import annotations

import contextlib
from typing import Any

from acp_agent.harness import login
from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import ClientGone, NotApplicable, NotExercised
from acp_agent.harness.scenario import Offer, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ClientRequest

_LOGIN_NEEDED = -32000
_TOKEN = {"id": "api-token", "name": "Use the API token", "description": "From the environment"}
_SECOND = {"id": "web login 2", "name": "Log in on the web"}
_MOST_ATTEMPTS = 10
_QUIET_S = 3.0
"""A client that has sent nothing for so long has given up, or asks its user."""


async def _refuse_setup_until_login(stage: Stage, result: dict[str, Any] | None) -> ClientRequest:
    """Answer `session/new` with -32000 until a login has come; returns the first `session/new` after it."""
    logged_in = False
    for _ in range(2 * _MOST_ATTEMPTS):
        request = await stage.expect_any("session/new", "authenticate")
        if request is None:
            raise NotExercised("the client did not log in")
        if request.method == "authenticate":
            chosen = request.params["methodId"]
            stage.check(
                "R-044", chosen in {"api-token", "web login 2"}, "an offered method", chosen, request.number
            )
            logged_in = True
            request.respond(result, on_purpose=result is None)
        elif logged_in:
            return request
        else:
            request.fail(_LOGIN_NEEDED, "Authentication required")
    raise NotExercised("the client asked for a session again and again, and did not log in")


@scenario(
    "auth/login-then-session",
    "No session without a login; the client may log in when it is refused, or before",
    rules=("R-044", "R-074"),
    offer=Offer(auth_methods=(_TOKEN, _SECOND)),
    plays=("session/new", "authenticate"),
    ask="Log in by any of the methods.",
)
async def login_then_session(stage: Stage) -> None:
    setup = await _refuse_setup_until_login(stage, {})
    setup.respond({"sessionId": "after-login"})
    turn = await stage.prompt()
    stage.check("R-074", turn.session_id == "after-login", "a prompt in the session", turn.session_id)
    turn.say("You are in.")
    turn.end()


@scenario(
    "auth/login-answered-with-null",
    "The login works, and its result is null instead of an empty object",
    rules=("R-044", "R-304"),
    offer=Offer(auth_methods=(_TOKEN, _SECOND)),
    plays=("session/new", "authenticate"),
    ask="Log in by any of the methods.",
)
async def login_answered_with_null(stage: Stage) -> None:
    try:
        setup = await _refuse_setup_until_login(stage, None)
    except ClientGone:
        if any(check.rule == "R-044" and check.ok for check in stage.checks):
            stage.check("R-304", False, "session/new after the login", "the client closed the connection")
        raise
    stage.check("R-304", True, "session/new after the login", "it came", setup.number)
    setup.respond({"sessionId": "after-login"})
    turn = await stage.prompt()
    turn.end()


async def _count_attempts(stage: Stage, *, login_works: bool) -> None:
    """Refuse every session, and every login unless it works, until the client gives up."""
    sessions = logins = 0
    wait_s = 20.0
    with contextlib.suppress(ClientGone):  # it has given up
        while max(sessions, logins) <= _MOST_ATTEMPTS:
            request = await stage.expect_any("session/new", "authenticate", within_s=wait_s)
            if request is None:
                break
            wait_s = _QUIET_S
            if request.method == "session/new":
                sessions += 1
                request.fail(_LOGIN_NEEDED, "Authentication required")
            elif login_works:
                logins += 1
                request.respond({})
            else:
                logins += 1
                request.fail(_LOGIN_NEEDED, "Wrong token", {"detail": "it has expired"})
    if not sessions and not logins:
        raise NotExercised("the client asked for no session")
    few = max(sessions, logins) <= _MOST_ATTEMPTS
    saw = f"session/new {sessions} times, authenticate {logins} times"
    stage.check("R-306", few, f"at most {_MOST_ATTEMPTS} attempts", saw)


@scenario(
    "auth/session-refused-for-ever",
    "Every login works, and the session is refused all the same",
    rules=("R-306",),
    offer=Offer(auth_methods=(_TOKEN,)),
    plays=("session/new", "authenticate"),
    ask="Log in once or twice; it will not help.",
)
async def session_refused_for_ever(stage: Stage) -> None:
    await _count_attempts(stage, login_works=True)


@scenario(
    "auth/login-refused-for-ever",
    "No login works",
    rules=("R-306",),
    offer=Offer(auth_methods=(_TOKEN, _SECOND)),
    plays=("session/new", "authenticate"),
    ask="Try to log in once or twice; it will not work.",
)
async def login_refused_for_ever(stage: Stage) -> None:
    await _count_attempts(stage, login_works=False)


@scenario(
    "auth/no-methods-and-refused",
    "A login is needed and none is offered",
    rules=("R-306",),
    plays=("session/new", "authenticate"),
)
async def no_methods_and_refused(stage: Stage) -> None:
    await _count_attempts(stage, login_works=False)


@scenario(
    "auth/method-of-unknown-type",
    "A login method of a type that does not exist yet, beside an ordinary one; no login is needed",
    rules=("R-053",),
    offer=Offer(
        auth_methods=(
            {"id": "future", "name": "By retina", "type": "zz_future", "retina": {"eyes": 2}},
            {"id": "plain", "name": "Plain", "description": None},
        )
    ),
    survives=("R-053",),
)
async def method_of_unknown_type(stage: Stage) -> None:
    turn = await stage.prompt(or_breaks="R-053")
    stage.check("R-053", True, "the client goes on to its first prompt", "it did", turn.request.number)
    turn.say("Hello.")
    turn.end()


def _offers_a_login(after: Aftermath) -> None:
    display = after.display("R-057")
    if display is not None:
        told = display.of("login") + display.of("error")
        saw = ", ".join(str(record["kind"]) for record in told) or "neither"
        after.check("R-057", bool(told), "the user is offered a login, or told that one is needed", saw)


@scenario(
    "auth/prompt-wants-login",
    "A prompt is answered with -32000 after half of its turn, however often it is sent",
    rules=("R-306",),
    display_rules=("R-057",),
    offer=Offer(auth_methods=(_TOKEN,)),
    plays=("authenticate",),
    aftermath=_offers_a_login,
)
async def prompt_wants_login(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("half", "Half of the work", kind="execute", status="in_progress")
    turn.tool_update("half", "completed")
    turn.fail(_LOGIN_NEEDED, "Authentication required")
    prompts = 1
    with contextlib.suppress(ClientGone):  # it has given up
        while prompts <= _MOST_ATTEMPTS:
            request = await stage.expect_any("session/prompt", "authenticate", within_s=_QUIET_S)
            if request is None:
                break
            if request.method == "authenticate":
                request.respond({})
            else:
                prompts += 1
                request.fail(_LOGIN_NEEDED, "Authentication required")
    few = prompts <= _MOST_ATTEMPTS
    stage.check("R-306", few, f"at most {_MOST_ATTEMPTS} prompts for one of the user's", f"{prompts} prompts")


_IN_TERMINAL = {
    "id": "in-a-terminal",
    "name": "Log in in a terminal",
    "type": "terminal",
    "args": [login.OPTION, "two words, $HOME and 'quotes'"],
    "env": {login.VARIABLE: "a value\nof two lines"},
}


async def _offer_logins(stage: Stage, *methods: dict[str, Any]) -> None:
    """Answer `initialize` with these methods. Raises NotApplicable: no terminal logins unasked (R-048)."""
    hello = await stage.expect("initialize")
    if not stage.advertises("auth.terminal"):
        hello.respond({"protocolVersion": 1})
        raise NotApplicable("the client does not advertise auth.terminal")
    hello.respond({"protocolVersion": 1, "authMethods": [dict(method) for method in methods]})


async def _refuse_sessions(stage: Stage) -> None:
    with contextlib.suppress(ClientGone):
        for _ in range(_MOST_ATTEMPTS):
            request = await stage.expect_any("session/new")
            if request is None:
                return
            request.fail(_LOGIN_NEEDED, "Authentication required")


def _check_not_passed_on(stage: Stage, calls: int) -> None:
    """R-045 at the end of a connection. calls: of authenticate with another method, which are fine."""
    others = stage.said_since(0).count("authenticate") - calls
    saw = f"{others} calls of it" if others else "it was not"
    stage.check("R-045", not others, "the terminal method is not passed to authenticate", saw)


def _ran_the_login(after: Aftermath) -> None:
    started = after.notes.get("login")
    if started is None:
        after.not_exercised("R-050", "the client ran no login in a terminal")
        return
    arguments, variable = started["arguments"], started["variable"]
    as_given = arguments[-2:] == _IN_TERMINAL["args"]
    after.check("R-050", as_given, f"the agent's program with {_IN_TERMINAL['args']} appended", arguments)
    after.check("R-050", variable == "a value\nof two lines", "the variable of the method", repr(variable))
    back = bool(after.notes.get("back"))
    after.check("R-050", back, "a new connection after the login", "it came" if back else "there was none")


@scenario(
    "auth/terminal-login",
    "The only login is one in a terminal: the agent's own program with more arguments",
    rules=("R-045", "R-050"),
    needs=("auth.terminal",),
    plays=("initialize", "session/new"),
    lives=2,
    ask="Log in in the terminal, then send a message.",
    aftermath=_ran_the_login,
)
async def terminal_login(stage: Stage) -> None:
    await _offer_logins(stage, _IN_TERMINAL)
    if stage.life == 1:
        await _refuse_sessions(stage)
        _check_not_passed_on(stage, 0)
        return
    stage.note("back", True)
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": "after-login"})
    turn = await stage.prompt()
    turn.say("Welcome.")
    turn.end()


def _few_logins(after: Aftermath) -> None:
    few = after.lives <= 2 * _MOST_ATTEMPTS
    after.check("R-306", few, f"at most {2 * _MOST_ATTEMPTS} starts of the agent's program", after.lives)


@scenario(
    "auth/terminal-login-fails",
    "The only login is one in a terminal, and it fails every time",
    rules=("R-045", "R-306"),
    needs=("auth.terminal",),
    plays=("initialize", "session/new"),
    lives=2 * _MOST_ATTEMPTS,
    ask="Log in in the terminal once or twice; it will not work.",
    aftermath=_few_logins,
)
async def terminal_login_fails(stage: Stage) -> None:
    await _offer_logins(stage, _IN_TERMINAL | {"args": [login.OPTION, login.FAILS]})
    await _refuse_sessions(stage)
    _check_not_passed_on(stage, 0)


@scenario(
    "auth/terminal-method-beside-another",
    "A login in a terminal is offered first, one that the agent handles second",
    rules=("R-045",),
    needs=("auth.terminal",),
    plays=("initialize", "session/new", "authenticate"),
    lives=2,
    ask="Log in, either way.",
)
async def terminal_method_beside_another(stage: Stage) -> None:
    await _offer_logins(stage, _IN_TERMINAL, _TOKEN)
    logins = 0
    for _ in range(2 * _MOST_ATTEMPTS):
        request = await stage.expect_any("session/new", "authenticate")
        if request is None:
            raise NotExercised("the client did not log in")
        if request.method == "authenticate":
            chosen = request.params["methodId"]
            stage.check(
                "R-045", chosen == _TOKEN["id"], "the method that the agent handles", chosen, request.number
            )
            logins += 1
            request.respond({})
        elif logins or stage.life > 1:
            _check_not_passed_on(stage, logins)
            request.respond({"sessionId": "after-login"})
            turn = await stage.prompt()
            turn.end()
            return
        else:
            request.fail(_LOGIN_NEEDED, "Authentication required")
