"""The beginning of a connection: initialize, the version, the first session and the first prompt."""

from __future__ import annotations

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import scenario
from acp_agent.harness.stage import Stage


@scenario(
    "handshake/first-turn",
    "An agent of the smallest size: one session, one prompt, one answer",
    rules=("R-022", "R-023", "R-058", "R-075", "R-126", "R-127", "R-304"),
    display_rules=("R-308",),
    plays=("initialize", "session/new"),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def first_turn(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    stage.check("R-022", hello.number == 0, "initialize before anything else", "it came first", hello.number)
    version = hello.params["protocolVersion"]
    stage.check("R-023", version >= 1, "a protocolVersion of at least 1", f"version {version}", hello.number)
    hello.respond({"protocolVersion": 1})
    setup = await stage.expect("session/new")
    servers, cwd = setup.params["mcpServers"], setup.params["cwd"]
    stage.check("R-058", isinstance(servers, list), "cwd and mcpServers", "both are there", setup.number)
    stage.check("R-075", cwd.startswith("/") or cwd[1:2] == ":", "an absolute cwd", cwd, setup.number)
    setup.respond({"sessionId": "first-session"})
    turn = await stage.prompt(or_breaks="R-304")
    stage.check("R-304", True, "a prompt once the session is there", "it came", turn.request.number)
    stage.check("R-126", turn.session_id == "first-session", "a prompt in the session", turn.session_id)
    kinds = {block["type"] for block in turn.prompt}
    plain = kinds <= {"text", "resource_link"}
    stage.check("R-127", plain, "only text and links in the prompt", ", ".join(sorted(kinds)))
    turn.say("Hello, client.")
    turn.end()


def _tells_the_user(after: Aftermath) -> None:
    after.check_noticed("R-029", "that it does not speak the agent's version")


@scenario(
    "handshake/unknown-version",
    "The agent answers with a protocol version nobody has heard of",
    rules=("R-029",),
    plays=("initialize", "session/new"),
    aftermath=_tells_the_user,
)
async def unknown_version(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    since = hello.respond({"protocolVersion": 9999})
    await stage.client_leaves(within_s=10)
    said = stage.said_since(since)
    stage.check("R-029", not said, "nothing more of the client but its leaving", ", ".join(said) or "nothing")
