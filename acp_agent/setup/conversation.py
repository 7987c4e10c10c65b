"""A stored conversation as text for a person: as the chat shows it, and as Markdown to keep or to give away.

Owns both forms. What of a record is shown, in which order and under which title is the replay's affair, so that a
person reads here what an editor shows after loading the session. Whatever a terminal would obey is spelled out in both
forms. Deliberately absent: where conversations come from and where the text goes (sessions.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from acp_agent.agent.replay import SUMMARY_MARK, replay
from acp_agent.agent.stored_session import StoredSession, summary_of
from acp_agent.agent.updates import Update
from acp_agent.client.screen import visible
from acp_agent.config import BashSettings
from acp_agent.jsonrpc import codec
from acp_agent.llm.model import Message
from acp_agent.tools.builtin import default_tools
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.skill import ReadSkillTool

NOTHING_SAID = "(nothing was said)"
_NO_RESULT = "no result was recorded"


@dataclass(frozen=True, slots=True)
class _Said:
    """Text of the user, of Bob, or a summary that stands for what was said before."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class _Called:
    """One tool call. inputs: what its title does not say. output: None if there is no result."""

    title: str
    inputs: tuple[tuple[str, str], ...]
    output: str | None
    failed: bool


_YOU, _BOB, _SUMMARY = "You", "Bob", "Summary of what came before"


def as_text(stored: StoredSession) -> Iterator[str]:
    """The conversation piece by piece, each ending in a line feed: prompts after `>`, calls after `*`."""
    when = _span(stored.created.astimezone(), stored.updated.astimezone())
    yield visible(f"Session {stored.id} in {stored.cwd}\n{when}, {_count(stored)}\n")
    for entry in _entries(stored):
        yield "\n"
        if isinstance(entry, _Called):
            yield _indented(entry.title, "* ", "  | ")
            for name, text in entry.inputs:
                yield f"  {visible(name)}:\n{_indented(text, '  | ')}"
            if entry.output is None:
                yield f"  {_NO_RESULT}\n"
                continue
            if entry.failed:
                yield "  failed\n"
            if entry.output:
                yield _indented(entry.output, "  | ")
        elif entry.by == _YOU:
            yield _indented(entry.text, "> ")
        else:
            mark = SUMMARY_MARK if entry.by == _SUMMARY else ""
            yield _indented(mark + entry.text, "")


def as_markdown(stored: StoredSession) -> Iterator[str]:
    """The conversation piece by piece: a heading a speaker, prompts quoted, input and output of tools in fences.

    Bob's own text is Markdown already and stays what it is; a fence that it leaves open is closed.
    """
    title = summary_of(stored).title.replace("<", "\\<") or f"Session {stored.id}"
    yield f"# {visible(title)}\n\n"
    yield f"- Session: `{stored.id}`\n- Directory: {_code(str(stored.cwd))}\n"
    # Whoever reads it may be anywhere.
    when = _span(stored.created.astimezone(UTC), stored.updated.astimezone(UTC))
    yield f"- When: {when} UTC\n- Length: {_count(stored)}\n"
    speaker = ""
    for entry in _entries(stored):
        by = _BOB if isinstance(entry, _Called) else entry.by
        if by != speaker or by == _YOU:
            yield f"\n## {by}\n"
        speaker = by
        if isinstance(entry, _Called):
            yield from _call_as_markdown(entry)
        elif by == _YOU:
            yield "\n" + "".join(f"> {line}".rstrip() + "\n" for line in _lines(entry.text))
        else:
            yield "\n" + _fences_closed(_lines(entry.text.rstrip()))


def _call_as_markdown(call: _Called) -> Iterator[str]:
    if "\n" in call.title:
        yield f"\nTool call:\n\n{_fence(call.title)}"
    else:
        yield f"\nTool call: {_code(call.title)}\n"
    for name, text in call.inputs:
        yield f"\n{_code(name)}:\n\n{_fence(text)}"
    if call.output is None:
        yield f"\n{_NO_RESULT.capitalize()}.\n"
    elif call.output:
        yield f"\nResult{' (failed)' if call.failed else ''}:\n\n{_fence(call.output)}"
    else:
        yield f"\nResult{' (failed)' if call.failed else ''}: none.\n"


def _entries(stored: StoredSession) -> Iterator[_Said | _Called]:
    """What was said and done, oldest first. A summary is told from Bob's words by its mark, not by its looks."""
    # Nothing runs here, so no tool needs an environment, and no skill is read.
    bash = BashSettings()
    usual = default_tools(
        environ={}, bash_timeout_s=bash.timeout_s, bash_max_output_bytes=bash.max_output_bytes
    )
    tools = ToolRegistry([*usual, ReadSkillTool(lambda _: "")])
    group: list[Message] = []
    for message in stored.messages:
        if "summary" not in message:
            group.append(message)
            continue
        yield from (_entry(update) for update in replay(group, stored.cwd, tools))
        group = []
        yield _Said(_SUMMARY, str(message["content"]))
    yield from (_entry(update) for update in replay(group, stored.cwd, tools))


def _entry(update: Update) -> _Said | _Called:
    if update["sessionUpdate"] == "tool_call":
        title = str(update["title"])
        output = update.get("rawOutput", {}).get("output")
        return _Called(title, tuple(_inputs(update["rawInput"], title)), output, update["status"] == "failed")
    by = _YOU if update["sessionUpdate"] == "user_message_chunk" else _BOB
    return _Said(by, str(update["content"]["text"]))


def _inputs(raw_input: dict[str, Any], title: str) -> Iterator[tuple[str, str]]:
    for name, value in raw_input.items():
        text = value if isinstance(value, str) else codec.encode(value).decode().strip()
        if text and text not in title:
            yield name, text


# Pieces of text


def _lines(text: str) -> list[str]:
    return visible(text).rstrip("\n").split("\n")


def _indented(text: str, first: str, other: str | None = None) -> str:
    """Lines that each begin with `first`, or from the second one on with `other`."""
    begun = [f"{first if n == 0 or other is None else other}{line}" for n, line in enumerate(_lines(text))]
    return "".join(f"{line.rstrip()}\n" for line in begun)


def _fence(text: str) -> str:
    marks = "`" * max(3, _longest_run(text) + 1)
    return "\n".join([marks, *_lines(text), marks, ""])


def _code(text: str) -> str:
    """Text on one line as inline code, whatever is in it."""
    shown = visible(text).replace("\n", "\\n")
    marks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _fences_closed(lines: list[str]) -> str:
    """Lines of Markdown; an answer that was cut off within a fence must not swallow what follows it."""
    opened = ""
    for line in lines:
        found = re.match(" {0,3}(`{3,}|~{3,})(.*)", line)
        if found is None:
            continue
        marks, rest = found.groups()
        if not opened:
            opened = marks if marks[0] == "~" or "`" not in rest else ""
        elif marks.startswith(opened) and not rest.strip():
            opened = ""
    return "\n".join([*lines, *([opened] if opened else []), ""])


def _count(stored: StoredSession) -> str:
    count = summary_of(stored).messages
    return f"{count} message{'' if count == 1 else 's'}"


def _span(begin: datetime, end: datetime) -> str:
    """From when to when, in the time zone they have; what is the same is said once."""
    day, from_, to = begin.strftime("%Y-%m-%d"), begin.strftime("%H:%M"), end.strftime("%H:%M")
    if begin.date() != end.date():
        return f"{day} {from_} to {end:%Y-%m-%d} {to}"
    return f"{day} {from_}" if from_ == to else f"{day} {from_} to {to}"
