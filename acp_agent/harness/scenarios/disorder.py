"""An agent in disorder: lines that are no messages, answers to nobody, answers twice, answers that make no sense.

The client drops what it cannot use and goes on. It never answers what looks like an answer.
"""

from __future__ import annotations

from typing import Any, Final

from acp_agent.harness.endings import ClientGone, NotExercised
from acp_agent.harness.scenario import choose, on_end, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ALLOW_OR_REJECT
from acp_agent.jsonrpc import codec

_GO_ON: Final = on_end("prompt", text="Go on, please.")
_ANOTHER: Final = "When the turn has ended, send another message."
_BANNER: Final = "Starting agent v1.2 ...\nListening on stdio. Ready in 42 ms ✓\n"
_GARBAGE: Final = (
    b"DEBUG model call took 1.3 s\n",
    b'{"jsonrpc":"2.0","method":"session/upd\n',
    b"{\n",
    b"42\n",
    b'"a string"\n',
    b"null\n",
    b"\xff\xfe\x00 not UTF-8\n",
    b'{"jsonrpc":"2.0"}\n',
)
_RESPONSES_TO_NOBODY: Final[tuple[dict[str, Any], ...]] = (
    {"jsonrpc": "2.0", "id": 987654321, "result": {}},
    {"jsonrpc": "2.0", "id": "nobody", "result": {"stopReason": "end_turn"}},
    {"jsonrpc": "2.0", "id": "nobody", "error": {"code": -32603, "message": "Internal error"}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
    {"jsonrpc": "2.0", "id": -1, "result": None},
)
_MALFORMED_RESPONSES: Final[tuple[dict[str, Any], ...]] = (
    {"jsonrpc": "2.0", "id": 987654322, "result": 1, "error": {}},
    {"jsonrpc": "2.0", "id": 987654323, "error": "a string"},
    {"jsonrpc": "2.0", "id": 987654324, "error": {"code": "x"}},
    {"jsonrpc": "2.0", "id": {"an": "object"}, "result": {}},
    {"jsonrpc": "2.0", "result": {}},
)


@scenario(
    "misbehaviour/garbage-lines",
    "Log lines, half a message, scalars and bytes that are no UTF-8 between good messages",
    rules=("R-302",),
    display_rules=("R-308",),
    survives=("R-302",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def garbage_lines(stage: Stage) -> None:
    turn = await stage.prompt()
    for number, line in enumerate(_GARBAGE):
        turn.say(f"{number} ")
        stage.send_raw(line, broken_lines=1)
    turn.say("end")
    await stage.check_alive("R-302", after="lines that are no messages")
    turn.end()


@scenario(
    "misbehaviour/banner-on-stdout",
    "The agent greets on its standard output before it answers initialize",
    rules=("R-302",),
    plays=("initialize",),
    survives=("R-302",),
)
async def banner_on_stdout(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    stage.send_raw(_BANNER.encode(), broken_lines=2)
    hello.respond({"protocolVersion": 1})
    turn = await stage.prompt(or_breaks="R-302")
    at = turn.request.number
    stage.check(
        "R-302", True, "a prompt, though a banner came before the answer to initialize", "it came", at
    )
    turn.end()


@scenario(
    "misbehaviour/responses-to-nobody",
    "Answers to requests that were never made",
    rules=("R-016", "R-304"),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def responses_to_nobody(stage: Stage) -> None:
    await _ignores(stage, _RESPONSES_TO_NOBODY, "answers to requests that were never made")


@scenario(
    "misbehaviour/malformed-responses",
    "Answers that have both a result and an error, an error that is none, or no usable id",
    rules=("R-016", "R-304"),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def malformed_responses(stage: Stage) -> None:
    await _ignores(stage, _MALFORMED_RESPONSES, "malformed answers")


async def _ignores(stage: Stage, messages: tuple[dict[str, Any], ...], what: str) -> None:
    """Send responses that nobody waits for between two chunks; nothing may come back, and the turn goes on."""
    turn = await stage.prompt()
    turn.say("Before, ")
    since = stage.now_at
    for message in messages:
        stage.send_on_purpose(message)
    turn.say("after.")
    await stage.check_alive("R-304", after=what)
    stage.check_silent("R-016", since, what)
    turn.end()


@scenario(
    "misbehaviour/second-response",
    "A prompt is answered twice, and its permission request is repeated with the same id",
    rules=("R-304", "R-175"),
    display_rules=("R-308",),
    user=(choose("allow_once"), _GO_ON),
    ask=f"Allow the tool once. {_ANOTHER}",
    aftermath=lambda after: after.check_shown_whole("R-308", turn=2),
)
async def second_response(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    answer = await turn.ask_permission("t").answer()
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    turn.tool_update("t", "failed")
    turn.end("end_turn")
    turn.end("refusal", on_purpose=True)
    turn.fail(-32603, "Internal error", on_purpose=True)
    second = await stage.prompt()
    stage.check("R-304", True, "another prompt after three answers", "it came", second.request.number)
    second.say("The second turn is whole.")
    await stage.check_alive("R-304", after="three answers to one prompt")
    second.end()


def _strange_end(name: str, title: str, result: Any) -> None:
    """A turn whose answer makes no sense: it is over, somehow, and the client can be used."""

    @scenario(
        f"misbehaviour/{name}",
        title,
        rules=("R-304",),
        user=(_GO_ON,),
        ask=_ANOTHER,
    )
    async def play(stage: Stage) -> None:
        turn = await stage.prompt()
        turn.say("That is all.")
        turn.request.respond(result, on_purpose=True)
        expected = f"the end of waiting, after the result {codec.encode(result).decode().strip()}"
        try:
            second = await stage.prompt(or_breaks="R-304")
        except ClientGone as gone:
            raise NotExercised("the client ended after the answer that makes no sense") from gone
        stage.check("R-304", True, expected, "another prompt", second.request.number)
        second.end()


_strange_end(
    "unknown-stop-reason", "A turn ends for a reason that does not exist", {"stopReason": "finished"}
)
_strange_end("no-stop-reason", "A turn ends and does not say why", {})
_strange_end("null-result", "A turn ends with the result null", None)


@scenario(
    "misbehaviour/both-result-and-error",
    "The answer to a prompt has both a result and an error; the right one follows",
    rules=("R-304", "R-016"),
    user=(_GO_ON,),
    ask=_ANOTHER,
)
async def both_result_and_error(stage: Stage) -> None:
    turn = await stage.prompt()
    since = stage.now_at
    error = {"code": -32603, "message": "Internal error"}
    both = {"jsonrpc": "2.0", "id": turn.id, "result": {"stopReason": "end_turn"}, "error": error}
    stage.send_on_purpose(both)
    turn.end("end_turn", on_purpose=True)
    try:
        second = await stage.prompt(or_breaks="R-304")
    except ClientGone as gone:
        raise NotExercised("the client ended after the malformed answer") from gone
    stage.check("R-304", True, "another prompt", "it came", second.request.number)
    await stage.check_alive("R-304", after="an answer that is both a result and an error")
    stage.check_silent("R-016", since, "a malformed answer")
    second.end()


@scenario(
    "misbehaviour/permission-out-of-turn",
    "A permission is asked for when no turn runs",
    rules=("R-016", "R-304"),
    user=(on_end("wait"), _GO_ON),
    ask="When the turn has ended, wait for a question, answer it as you like, then send another message.",
)
async def permission_out_of_turn(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.end()
    asked = turn.ask_permission("late", ALLOW_OR_REJECT, title="A late tool", on_purpose=True)
    answer = await asked.answer(5.0)
    if not answer.arrived:
        stage.withdraw(asked)
        answer = await asked.answer()
    if stage.narrates and not answer.arrived:
        stage.not_exercised("R-016", "nobody has answered the question")
    else:
        stage.check("R-016", answer.arrived, "an answer, be it a choice or an error", answer)
    second = await stage.prompt()
    stage.check("R-304", True, "another prompt", "it came", second.request.number)
    second.end()


@scenario(
    "misbehaviour/silent-for-a-while",
    "The agent says nothing for four seconds in the middle of a turn, then ends it",
    rules=("R-304",),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def silent_for_a_while(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Let me think ")
    await stage.pause(4.0)
    turn.say("about that.")
    await stage.check_alive("R-304", after="four seconds of silence")
    turn.end()
