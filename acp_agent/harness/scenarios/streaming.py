"""Streams of text: how much, how fast, in which order, and cut where."""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import Offer, on_end, scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn
from acp_agent.jsonrpc import codec

_LETTERS = "abcdefghij klmnopqrst uvwxyz ü€漢 \n"
_MIB = 1024 * 1024


def _chunk(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def _update_line(turn: StagedTurn, update: dict[str, Any]) -> bytes:
    """An update as a line, for scripts that cut it themselves."""
    params = {"sessionId": turn.session_id, "update": update}
    return codec.encode({"jsonrpc": "2.0", "method": "session/update", "params": params})


@scenario(
    "stream/two-thousand-letters",
    "Two thousand chunks of one character",
    rules=("R-304",),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def two_thousand_letters(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say_all(_LETTERS[number % len(_LETTERS)] for number in range(2000))
    await stage.check_alive("R-304", after="2,000 chunks of one character")
    turn.end()


@scenario(
    "stream/burst-of-5-mib",
    "Five mebibytes in one burst, a silence, then one small chunk",
    rules=("R-304",),
    display_rules=("R-308",),
    survives=("R-304",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def burst_of_5_mib(stage: Stage) -> None:
    turn = await stage.prompt()
    piece = ("0123456789abcdef" * 3 + "€\n") * 1280
    turn.say_all([piece] * (5 * _MIB // len(piece.encode())))
    await stage.flushed()
    await stage.check_alive("R-304", after="a burst of 5 MiB")
    await stage.pause(0.5)
    turn.say("And one more.")
    await stage.check_alive("R-304", after="a small chunk behind the burst")
    turn.end()


def _shows_all_in_order(after: Aftermath) -> None:
    after.check_shown_whole("R-308")
    shown.check_text_before_end(after, "R-308")


@scenario(
    "stream/five-hundred-then-the-end",
    "Five hundred numbered chunks and the end of the turn in one write",
    rules=("R-304",),
    display_rules=("R-308",),
    user=(on_end("prompt", text="Again."),),
    ask="When the turn has ended, send another message.",
    aftermath=_shows_all_in_order,
)
async def five_hundred_then_the_end(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say_all(f"<{number}>" for number in range(500))
    turn.end()
    await stage.check_alive("R-304", after="500 chunks and the end of their turn")
    second = await stage.prompt()
    second.say("Again.")
    second.end()


@scenario(
    "stream/empty-chunks",
    "Chunks of no text, of blanks and of line ends, as messages and as thoughts",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def empty_chunks(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.think("")
    turn.say_all(("", "\n", " ", "\t", ""))
    turn.think(" ")
    turn.say_all(("Text at last.", "", "\r\n", " More.", ""))
    await stage.check_alive("R-303", after="chunks of no text")
    turn.end()


@scenario(
    "stream/thoughts-between",
    "Thoughts and an echo of the user's words between the pieces of the message",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def thoughts_between(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": turn.text}})
    for number in range(5):
        turn.think(f"Thought {number}. ")
        turn.say(f"Word {number}. ")
    await stage.check_alive("R-303", after="thoughts between the text")
    turn.end()


@scenario(
    "stream/content-that-is-no-text",
    "The message has an image, a sound, a link and two files between its text",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def content_that_is_no_text(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("Look: ")
    for content in NO_TEXT:
        turn.update({"sessionUpdate": "agent_message_chunk", "content": content})
        turn.update({"sessionUpdate": "agent_thought_chunk", "content": content})
    turn.say("that was all.")
    await stage.check_alive("R-303", after="content that is no text")
    turn.end()


NO_TEXT: tuple[dict[str, Any], ...] = (
    {
        "type": "image",
        "mimeType": "image/png",
        "uri": "file:///project/dot.png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    },
    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRiQAAABXQVZFZm10IBAAAAABAAEA"},
    {"type": "resource_link", "uri": "file:///project/notes.md", "name": "notes.md", "size": 12},
    {
        "type": "resource",
        "resource": {"uri": "file:///project/a.txt", "mimeType": "text/plain", "text": "in a file"},
        "annotations": {"audience": ["user", "assistant"], "priority": 0.5},
    },
    {"type": "resource", "resource": {"uri": "file:///project/b.bin", "blob": "AAEC"}},
)
"""A content block of every kind but text."""


@scenario(
    "stream/cut-in-every-character",
    "A text of characters of one to four bytes, once for every place where it can be cut",
    rules=("R-001", "R-304"),
    display_rules=("R-308",),
    survives=("R-001",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def cut_in_every_character(stage: Stage) -> None:
    turn = await stage.prompt()
    text = "zü€👩‍🚀"
    line = _update_line(turn, _chunk(text))
    start = line.index(text.encode())
    for place in range(start, start + len(text.encode()) + 1):
        turn.note_said(text)
        await stage.send_in_pieces(line, (place,))
    await stage.check_alive("R-001", "R-304", after="text that is cut in the middle of characters")
    turn.end()


_INFO = {"sessionUpdate": "session_info_update", "title": "Cut in two"}


async def _end_in_pieces(stage: Stage, *, at_byte_of_answer: int | None) -> None:
    """The last chunk, the answer and an update behind it: in one write, or in two that part in the answer."""
    turn = await stage.prompt()
    turn.say("First, ")
    turn.note_said("last.")
    before = _update_line(turn, _chunk("last."))
    answer = turn.request.answer_line({"stopReason": "end_turn"})
    behind = _update_line(turn, _INFO)
    cut = () if at_byte_of_answer is None else (len(before) + at_byte_of_answer % len(answer),)
    await stage.send_in_pieces(before + answer + behind, cut)
    await stage.check_alive("R-304", after="the end of the turn")
    second = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    second.say("And on.")
    second.end()


def _end_scenario(name: str, title: str, at_byte_of_answer: int | None) -> None:
    @scenario(
        f"stream/{name}",
        title,
        rules=("R-304",),
        display_rules=("R-308",),
        user=(on_end("prompt", text="Again."),),
        ask="When the turn has ended, send another message.",
        aftermath=_shows_all_in_order,
    )
    async def play(stage: Stage) -> None:
        await _end_in_pieces(stage, at_byte_of_answer=at_byte_of_answer)


_end_scenario(
    "end-in-one-write", "The last chunk, the answer to the prompt and an update behind it in one write", None
)
_end_scenario(
    "end-cut-in-the-answer", "The last chunk and half of the answer in one write, the rest in another", 30
)
_end_scenario("end-cut-before-the-line-feed", "The answer's line feed comes with the update behind it", -1)

_MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}


def _idle_updates(word: str) -> list[dict[str, Any]]:
    size = 1000 + len(word)
    return [
        {"sessionUpdate": "current_mode_update", "currentModeId": "code" if word == "idle" else "ask"},
        {"sessionUpdate": "session_info_update", "title": f"Title while {word}"},
        {"sessionUpdate": "usage_update", "used": size, "size": 2000},
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": f"while-{word}", "description": "A command"}],
        },
    ]


def _shows_idle_updates(after: Aftermath) -> None:
    pairs = zip(_idle_updates("idle"), _idle_updates("busy"), strict=True)
    for idle, busy in pairs:
        shown.check_shown_like(after, "R-308", idle["sessionUpdate"], idle, busy)


@scenario(
    "stream/updates-while-idle",
    "Mode, title, usage and commands change while no turn runs, and another prompt follows",
    rules=("R-304",),
    display_rules=("R-308",),
    offer=Offer(modes=_MODES),
    user=(on_end("wait"), on_end("prompt", text="Go on.")),
    ask="When the turn has ended, wait a moment, look at the mode and the title, then send another message.",
    aftermath=_shows_idle_updates,
)
async def updates_while_idle(stage: Stage) -> None:
    turn = await stage.prompt()
    for update in _idle_updates("busy"):
        turn.update(update)
    turn.say("Done.")
    turn.end()
    await stage.barrier()
    for update in _idle_updates("idle"):
        stage.update(turn.session_id, update)
    await stage.check_alive("R-304", after="updates while no turn runs")
    second = await stage.prompt()
    second.say("I go on.")
    second.end()
