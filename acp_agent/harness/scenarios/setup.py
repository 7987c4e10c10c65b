"""Opening sessions: what the agent answers and sends around it, and what may be asked of one that offers little."""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scenario import Offer, Step, on_end, on_ready, on_start, scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ClientRequest
from acp_agent.protocol.rules import RULES

_COMMANDS = "available_commands_update"
_ODD_ID = 'Sess ID/ü漢 "x" \\..%2F#1 = 007'


def _commands(*names: str) -> dict[str, Any]:
    listed = [{"name": name, "description": f"Do {name}"} for name in names]
    listed[0]["input"] = {"hint": "what to look at"}  # type: ignore[assignment]
    return {"sessionUpdate": _COMMANDS, "availableCommands": listed}


def _shows_the_commands(after: Aftermath) -> None:
    shown.check_shown_like(
        after, "R-308", _COMMANDS, _commands("zz-status", "zz-plan"), _commands("zz-later")
    )


@scenario(
    "setup/commands-after-new",
    "The commands come in one write with the answer to session/new, and the user runs one",
    rules=("R-203", "R-304"),
    display_rules=("R-308",),
    plays=("session/new",),
    prompt="/zz-status of everything",
    ask="Run the command /zz-status of everything.",
    survives=("R-304",),
    aftermath=_shows_the_commands,
)
async def commands_after_new(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": "with-commands"})
    stage.update("with-commands", _commands("zz-status", "zz-plan"))
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    stage.check("R-304", True, "a prompt once the session is there", "it came", turn.request.number)
    text = turn.text
    stage.check(
        "R-203", "/zz-status of everything" in text, "the command as the text of a prompt", text[:100]
    )
    turn.say("All is well.")
    await stage.barrier()
    turn.update(_commands("zz-later"))
    turn.end()


@scenario(
    "setup/commands-before-the-answer",
    "The commands come before the answer to session/new, as some agents send them",
    rules=("R-304",),
    plays=("session/new",),
    survives=("R-304",),
)
async def commands_before_the_answer(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    stage.update("too-early", _commands("zz-status"), on_purpose=True)
    setup.respond({"sessionId": "too-early"})
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    stage.check("R-304", True, "a prompt once the session is there", "it came", turn.request.number)
    turn.say("Never mind.")
    turn.end()


def _keeps_lists_apart(after: Aftermath) -> None:
    display = shown.display_of(after, "R-308", 2)
    if display is None:
        return
    lists = {
        record.get("session"): [command["name"] for command in record["update"]["availableCommands"]]
        for record in display.of(_COMMANDS)
        if isinstance(record.get("update"), dict)
    }
    if "first" not in lists and "second" not in lists:
        after.not_exercised("R-308", "the display record shows no commands")
        return
    wanted = {"first": ["zz-one"], "second": ["zz-two"]}
    after.check("R-308", lists == wanted, f"the commands of each session: {wanted}", lists)


@scenario(
    "setup/two-sessions",
    "Two sessions one after the other, each with commands of its own and a prompt",
    rules=("R-058", "R-074"),
    display_rules=("R-308",),
    plays=("session/new",),
    user=(on_end("new"), on_end("prompt", text="And here?")),
    ask="When the turn has ended, open a second session and send a message in it.",
    aftermath=_keeps_lists_apart,
)
async def two_sessions(stage: Stage) -> None:
    for session, command in (("first", "zz-one"), ("second", "zz-two")):
        setup = await stage.expect("session/new", user="no second session was opened")
        setup.respond({"sessionId": session})
        stage.update(session, _commands(command))
        turn = await stage.prompt()
        turn.say(f"You are in session {turn.session_id}.")
        turn.end()
    # What is looked at is the second session; the first alone proves nothing.
    stage.check("R-058", "cwd" in setup.params, "cwd and mcpServers", "both are there", setup.number)
    known = turn.session_id in {"first", "second"}
    stage.check("R-074", known, "the id of a session", turn.session_id, turn.request.number)


@scenario(
    "setup/odd-session-id",
    "The id of the session has blanks, quotes, slashes and letters of three alphabets",
    rules=("R-074",),
    plays=("session/new",),
    user=(on_end("prompt", text="Again."),),
    ask="Send a second message after the first turn.",
)
async def odd_session_id(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": _ODD_ID})
    for _ in range(2):
        turn = await stage.prompt()
        stage.check(
            "R-074", turn.session_id == _ODD_ID, f"the id {_ODD_ID}", turn.session_id, turn.request.number
        )
        turn.say("Found you.")
        turn.end()


@scenario(
    "setup/answered-with-nulls",
    "session/new is answered with null for all it could carry",
    rules=("R-036", "R-074"),
    plays=("session/new",),
    survives=("R-036",),
)
async def answered_with_nulls(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": "nulls", "modes": None, "configOptions": None, "_meta": None})
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-036")
    stage.check("R-036", True, "a prompt in the session", "it came", turn.request.number)
    stage.check("R-074", turn.session_id == "nulls", "the id of the session", turn.session_id)
    turn.say("Nothing is the matter.")
    turn.end()


@scenario(
    "setup/some-capabilities",
    "initialize is answered with one capability and nothing else",
    rules=("R-033", "R-127"),
    plays=("initialize",),
    survives=("R-033",),
)
async def some_capabilities(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    hello.respond({"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"image": True}}})
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-033")
    stage.check("R-033", True, "a session and a prompt", "they came", turn.request.number)
    kinds = {block["type"] for block in turn.prompt}
    allowed = kinds <= {"text", "resource_link", "image"}
    stage.check(
        "R-127", allowed, "text, links and images at most", ", ".join(sorted(kinds)), turn.request.number
    )
    turn.say("I can look at pictures.")
    turn.end()


_GATED = {
    "session/load": "R-060",
    "session/resume": "R-065",
    "session/close": "R-071",
    "session/list": "R-089",
    "session/delete": "R-100",
    "logout": "R-054",
}
_WANTS_EVERYTHING: tuple[Step, ...] = (
    on_start("list"),
    on_start("load", session_id="kept-1"),
    on_start("resume", session_id="kept-1"),
    on_end("list"),
    on_end("load"),
    on_end("resume"),
    on_end("close"),
)


async def _calls_nothing_gated(stage: Stage, *, also: str | None = None) -> None:
    turn = await stage.prompt(or_breaks=None if stage.narrates else also)
    turn.say("I am a simple agent.")
    turn.end()
    await stage.client_leaves(within_s=2)
    said = stage.said_since(0)
    for method, rule in _GATED.items():
        stage.check(rule, method not in said, f"no {method}", f"{said.count(method)} of them")
    if also is not None:
        called = ", ".join(method for method in _GATED if method in said)
        stage.check(also, not called, "nothing that is null is called", called or "nothing")


@scenario(
    "setup/nothing-advertised",
    "The agent advertises nothing, and the user would like all there is",
    rules=tuple(_GATED.values()),
    user=_WANTS_EVERYTHING,
    ask="Look for a way to list, load, resume and close sessions, and to log out: there should be none.",
)
async def nothing_advertised(stage: Stage) -> None:
    await _calls_nothing_gated(stage)


@scenario(
    "setup/null-is-off",
    "Every capability that may be null is null",
    rules=("R-036", *_GATED.values()),
    offer=Offer(
        capabilities={
            "loadSession": False,
            "sessionCapabilities": {
                "list": None,
                "delete": None,
                "resume": None,
                "close": None,
                "additionalDirectories": None,
                "_meta": None,
            },
            "auth": {"logout": None},
        }
    ),
    user=_WANTS_EVERYTHING,
    ask="Look for a way to list, load, resume and close sessions, and to log out: there should be none.",
    survives=("R-036",),
)
async def null_is_off(stage: Stage) -> None:
    await _calls_nothing_gated(stage, also="R-036")


@scenario(
    "setup/null-containers",
    "Groups of capabilities are null as a whole, which no agent should send and some do",
    rules=("R-036", *_GATED.values()),
    plays=("initialize",),
    user=_WANTS_EVERYTHING,
    survives=("R-036",),
)
async def null_containers(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    groups = dict.fromkeys(("promptCapabilities", "mcpCapabilities", "sessionCapabilities", "auth"))
    hello.respond(
        {"protocolVersion": 1, "agentCapabilities": groups, "authMethods": None, "agentInfo": None},
        on_purpose=True,
    )
    await _calls_nothing_gated(stage, also="R-036")


async def _answer_load(stage: Stage, result: dict[str, Any] | None) -> None:
    load = await stage.expect_any("session/load", "session/prompt")
    if load is None or load.method == "session/prompt":
        if load is not None:
            load.respond({"stopReason": "end_turn"})
        raise NotExercised("the user loaded no session")
    id_ = load.params["sessionId"]
    shape = isinstance(load.params["cwd"], str) and isinstance(load.params["mcpServers"], list)
    stage.check("R-061", shape, "sessionId, cwd and mcpServers", "all are there", load.number)
    stage.update(
        id_, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Earlier."}}
    )
    load.respond(result, on_purpose=result is None)
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    stage.check("R-304", True, "a prompt once the session is loaded", "it came", turn.request.number)
    stage.check("R-074", turn.session_id == id_, f"the id that was loaded, {id_}", turn.session_id)
    turn.say("Welcome back.")
    turn.end()


def _load_scenario(name: str, title: str, result: dict[str, Any] | None) -> None:
    @scenario(
        f"setup/{name}",
        title,
        rules=("R-061", "R-074", "R-304"),
        offer=Offer(capabilities={"loadSession": True}),
        plays=("session/load",),
        user=(on_start("load", session_id="kept-1"),),
        ask="Load the session kept-1, then send a message.",
        survives=("R-304",),
    )
    async def play(stage: Stage) -> None:
        await _answer_load(stage, result)


_load_scenario(
    "load-answered-null", "session/load is answered with null, as the documentation shows it", None
)
_load_scenario("load-answered-empty", "session/load is answered with an empty object", {})
_load_scenario(
    "load-answered-with-nulls",
    "session/load is answered with null modes and no config options",
    {"modes": None, "configOptions": [], "_meta": {}},
)


@scenario(
    "setup/no-modes-to-set",
    "The user would like to set a mode and an option in a session that offers neither",
    rules=("R-032", "R-108"),
    user=(on_ready("set_mode", mode="code"), on_ready("set_config", configId="model", value="large")),
    ask="Look for a way to set a mode or an option: there should be none.",
)
async def no_modes_to_set(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("I have one way of working.")
    turn.end()
    said = stage.said_since(0)
    for rule, method in (("R-108", "session/set_mode"), ("R-032", "session/set_config_option")):
        stage.check(rule, method not in said, f"no {method}", f"{said.count(method)} of them")


_ALWAYS_JUDGED = (
    "R-001",
    "R-004",
    "R-006",
    "R-013",
    "R-017",
    "R-018",
    "R-019",
    "R-022",
    "R-030",
    "R-246",
    "R-249",
    "R-250",
)
"""What the observer looks at in every message: without a finding these are kept."""


@scenario(
    "setup/plain-conversation",
    "Two plain turns, to look at all that a client sends by itself",
    rules=(
        *_ALWAYS_JUDGED,
        *("R-014", "R-020", "R-024", "R-041", "R-058", "R-075", "R-078", "R-086", "R-127", "R-205", "R-256"),
    ),
    plays=("initialize", "session/new"),
    user=(on_end("prompt", text="And again."),),
    ask="Send two messages.",
)
async def plain_conversation(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    hello.respond({"protocolVersion": 1})
    info = hello.params.get("clientInfo") or {}
    named = bool(info.get("name")) and bool(info.get("version"))
    stage.check("R-024", named, "clientInfo with a name and a version", info or "none", hello.number)
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": "plain"})
    _check_setup(stage, setup)
    for _ in range(2):
        turn = await stage.prompt()
        kinds = ", ".join(sorted({block["type"] for block in turn.prompt}))
        for rule in ("R-127", "R-205"):
            plain = not {"image", "audio", "resource"} & set(kinds.split(", "))
            stage.check(rule, plain, "only text and links in the prompt", kinds, turn.request.number)
        asked = stage.call("_example.org/ask", {})
        answer = await asked.answer()
        if answer.arrived:
            stage.check("R-014", True, "a result or an error", answer)
        if answer.code is not None:
            stage.check("R-256", True, "an error with a code and a message", answer)
        turn.end()
    hellos = stage.said_since(0).count("initialize")
    stage.check("R-041", hellos == 1, "initialize once", f"{hellos} times")
    broken = {check.rule for check in stage.checks if not check.ok}
    for rule in _ALWAYS_JUDGED:
        if rule not in broken:
            stage.check(rule, True, RULES[rule].sentence, f"so in {len(stage.said_since(0))} messages")


def _check_setup(stage: Stage, setup: ClientRequest) -> None:
    """What session/new carries for an agent that advertises nothing; what is wrong with it never comes here."""
    cwd, servers = setup.params["cwd"], setup.params["mcpServers"]
    stage.check("R-058", True, "cwd and mcpServers", "both are there", setup.number)
    for rule in ("R-020", "R-075"):
        stage.check(rule, True, "an absolute cwd", cwd, setup.number)
    more = setup.params.get("additionalDirectories")
    stage.check("R-078", not more, "no additionalDirectories", more or "none", setup.number)
    kinds = {server.get("type", "stdio") for server in servers}
    stage.check(
        "R-086", kinds <= {"stdio"}, "no server over http or sse", ", ".join(kinds) or "none", setup.number
    )
