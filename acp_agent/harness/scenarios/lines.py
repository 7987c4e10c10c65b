"""Lines as JSON and pipes allow them: long ones, blank ones, other line ends, escapes, spaces and orders of members.

All of it is legal, but for the blank lines. Deliberately absent: slices of lines (framing.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from acp_agent.harness.scenario import choose, on_end, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ALLOW_OR_REJECT, StagedTurn
from acp_agent.jsonrpc import codec

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB
_GO_ON: Final = on_end("prompt", text="Another, please.")
_ANOTHER: Final = "When the turn has ended, send another message."
_SEPARATORS: Final = (
    ("line separator", "\u2028"),
    ("paragraph separator", "\u2029"),
    ("next line", "\x85"),
    ("delete", "\x7f"),
    ("zero-width space", "\u200b"),
    ("byte order mark", "\ufeff"),
)
_ESCAPED_ONLY: Final = "\r\n \n \x0b\x0c\x1c\x1d\x1e \t\b\x00"
"""What JSON has to escape, and what careless readers of lines split at."""


def _chunk(turn: StagedTurn, text: str) -> dict[str, Any]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": turn.session_id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _permission(turn: StagedTurn, request_id: int) -> dict[str, Any]:
    params = {
        "sessionId": turn.session_id,
        "toolCall": {"toolCallId": "t", "title": "A tool", "kind": "execute"},
        "options": [dict(option) for option in ALLOW_OR_REJECT],
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/request_permission", "params": params}


def _fill_up(turn: StagedTurn, size: int) -> str:
    """A text that makes the line of its chunk exactly so many bytes long, without its line feed."""
    return "x" * (size - len(codec.encode(_chunk(turn, ""))) + 1)


@scenario(
    "framing/around-64-kib",
    "Chunks on lines of 65,535, 65,536 and 65,537 bytes",
    rules=("R-312",),
    display_rules=("R-308",),
    survives=("R-312",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def around_64_kib(stage: Stage) -> None:
    turn = await stage.prompt()
    for size in (64 * _KIB - 1, 64 * _KIB, 64 * _KIB + 1):
        turn.say(_fill_up(turn, size))
        await stage.check_alive("R-312", after=f"a line of {size:,} bytes")
    turn.end()


@scenario(
    "framing/line-of-1-mib",
    "A chunk of one mebibyte on one line, and one of as many bytes in characters of three",
    rules=("R-312",),
    display_rules=("R-308",),
    survives=("R-312",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def line_of_1_mib(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("0123456789abcdef" * (_MIB // 16))
    turn.say("€" * (_MIB // 3))
    await stage.flushed()
    await stage.check_alive("R-312", after="two lines of 1 MiB")
    turn.end()


@scenario(
    "framing/long-request-and-response",
    "Not only updates are long: a request of 1 MiB, and an answer to the prompt of 200 KiB",
    rules=("R-312", "R-252"),
    user=(_GO_ON,),
    ask=_ANOTHER,
    survives=("R-312",),
)
async def long_request_and_response(stage: Stage) -> None:
    turn = await stage.prompt()
    asked = stage.call("_example.org/long", {"filler": "y" * _MIB})
    await stage.flushed()
    answer = await stage.check_error("R-252", asked, -32601)
    stage.check("R-312", answer.arrived, "an answer to a request of 1 MiB", answer)
    turn.end(_meta={"example.org": "z" * 200 * _KIB})
    second = await stage.prompt()
    stage.check("R-312", True, "another prompt after a long answer", "it came", second.request.number)
    second.end()


@scenario(
    "framing/crlf",
    "Lines that end with carriage return and line feed",
    rules=("R-315",),
    display_rules=("R-308",),
    survives=("R-315",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def crlf(stage: Stage) -> None:
    turn = await stage.prompt()
    for text in ("One, ", "two, ", "and\r\nthree."):
        turn.note_said(text)
        stage.send_raw(codec.encode(_chunk(turn, text)).replace(b"\n", b"\r\n"))
    request = {"jsonrpc": "2.0", "id": "crlf", "method": "_example.org/ask", "params": {}}
    asked = stage.listen("crlf", "_example.org/ask")
    stage.send_raw(codec.encode(request).replace(b"\n", b"\r\n"))
    answer = await asked.answer()
    stage.check("R-315", answer.arrived, "an answer to a request that ended with CR LF", answer)
    turn.end()


@scenario(
    "framing/blank-lines",
    "Blank lines and lines of spaces between the messages",
    rules=("R-302",),
    display_rules=("R-308",),
    survives=("R-302",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def blank_lines(stage: Stage) -> None:
    turn = await stage.prompt()
    for number, blank in enumerate((b"\n", b"\n\n\n", b"  \t \n", b"\r\n")):
        turn.say(f"{number} ")
        stage.send_raw(blank, broken_lines=blank.count(b"\n"))
    turn.say("end")
    await stage.check_alive("R-302", after="blank lines")
    turn.end()


@scenario(
    "framing/separators-in-strings",
    "Characters that end a line elsewhere, raw in a JSON string, where they are ordinary",
    rules=("R-004",),
    display_rules=("R-308",),
    survives=("R-004",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def separators_in_strings(stage: Stage) -> None:
    turn = await stage.prompt()
    for name, character in _SEPARATORS:
        text = f"before the {name}{character}after it; "
        line = json.dumps(_chunk(turn, text), ensure_ascii=False).encode() + b"\n"
        turn.note_said(text)
        stage.send_raw(line)
        await stage.check_alive("R-004", after=f"a raw {name} in a string")
    turn.end()


@scenario(
    "framing/escapes",
    "Everything is escaped that can be: slashes, letters of method names, pairs of surrogates, control characters",
    rules=("R-040", "R-175", "R-304"),
    display_rules=("R-308",),
    user=(choose("allow_once"), _GO_ON),
    ask=f"Allow the tool once. {_ANOTHER}",
    survives=("R-040",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def escapes(stage: Stage) -> None:
    turn = await stage.prompt()
    text = f"Launch 🚀 now / {_ESCAPED_ONLY}"
    turn.note_said(text)
    stage.send_raw(_escaped(_chunk(turn, text)))
    asked = stage.listen("esc", "session/request_permission")
    stage.send_raw(_escaped({**_permission(turn, 0), "id": "esc"}))
    answer = await asked.answer()
    stage.check(
        "R-040", answer.is_result, "a choice, though session\\/request_permission was escaped", answer
    )
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    await _ends_with(stage, turn, _escaped, "an answer whose member names are escaped")


@scenario(
    "framing/orders-and-spaces",
    "Members in the order that nobody expects, spaces and tabs wherever JSON allows them",
    rules=("R-040", "R-175", "R-304"),
    display_rules=("R-308",),
    user=(choose("allow_once"), _GO_ON),
    ask=f"Allow the tool once. {_ANOTHER}",
    survives=("R-040",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def orders_and_spaces(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.note_said("Backwards.")
    stage.send_raw(_spread(_chunk(turn, "Backwards.")))
    asked = stage.listen(77, "session/request_permission")
    stage.send_raw(_spread(_permission(turn, 77)))
    answer = await asked.answer()
    stage.check("R-040", answer.is_result, "a choice, though the method came last", answer)
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    await _ends_with(stage, turn, _spread, "an answer whose id comes last")


async def _ends_with(stage: Stage, turn: StagedTurn, spell: Callable[[Any], bytes], what: str) -> None:
    """End the turn with a line that is spelled so; the next prompt shows that it was understood."""
    turn.tool_update("t", "failed")
    stage.send_raw(spell(codec.decode(turn.request.answer_line({"stopReason": "end_turn"}))))
    second = await stage.prompt()
    stage.check("R-304", True, f"another prompt after {what}", "it came", second.request.number)
    second.end()


def _escaped(message: Any) -> bytes:
    """One line in which each character of each string is a \\u escape, but for slashes, which are `\\/`."""
    return _encode_escaped(message).encode("ascii") + b"\n"


def _encode_escaped(value: Any) -> str:
    if isinstance(value, str):
        return f'"{"".join(_escape(character) for character in value)}"'
    if isinstance(value, dict):
        members = (f"{_encode_escaped(name)}:{_encode_escaped(item)}" for name, item in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(_encode_escaped(item) for item in value)}]"
    return json.dumps(value)


def _escape(character: str) -> str:
    if character == "/":
        return "\\/"
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _spread(message: Any) -> bytes:
    """One line with the members of every object in reverse, and blanks around every token."""
    return b" \t" + _encode_spread(message).encode() + b"\t \n"


def _encode_spread(value: Any) -> str:
    if isinstance(value, dict):
        members = (f" {json.dumps(name)} \t: {_encode_spread(value[name])} " for name in reversed(value))
        return f"{{\t{','.join(members)}}}"
    if isinstance(value, list):
        return f"[ {' , '.join(_encode_spread(item) for item in value)}\t]"
    return json.dumps(value, ensure_ascii=False)
