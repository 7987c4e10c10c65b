"""The built-in stand-in for a model, so that a first start works with no server and no key.

Owns a handful of sentences and four commands that become real tool calls. Absent: any intelligence, any network, any
state between calls: everything is read from the conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence

from acp_agent.llm.model import (
    Finished,
    FinishReason,
    Message,
    ModelEvent,
    TextDelta,
    ToolCallReady,
    ToolSpec,
    last_user_text,
    text_of,
)

INTRODUCTION = """\
I am the offline stand-in, not a language model: no server is asked and nothing leaves this machine. I understand:

- run <command>
- read <path>
- write <path>: <text>
- edit <path>: <old> => <new>

To talk to a real model, put this into acp-agent.toml and start again:

[model]
provider = "openai"
baseUrl = "http://localhost:11434/v1"
name = "qwen3"

Any OpenAI-compatible server will do; if it wants a key, set apiKeyEnv to the name of the environment variable that \
holds it."""

_COMMANDS = (
    ("bash", re.compile(r"run\s+(?P<command>.+)", re.DOTALL | re.IGNORECASE)),
    ("read_file", re.compile(r"read\s+(?P<path>.+)", re.IGNORECASE)),
    (
        "edit_file",
        re.compile(r"edit\s+(?P<path>.+?):\s(?P<old_text>.+?)\s=>(?:\s(?P<new_text>.*))?", re.DOTALL | re.I),
    ),
    ("write_file", re.compile(r"write\s+(?P<path>.+?):(?:\s(?P<content>.*))?", re.DOTALL | re.IGNORECASE)),
)
_ATTACHMENTS = re.compile(r"(\n\[attached (file|directory): [^\n]*\])+\s*$")
"""What an editor adds below the typed text is no part of a command."""
_WORD = re.compile(r"\S+\s*|\s+")
_MAX_QUOTED = 600


class OfflineModel:
    """Answers from a few rules; see INTRODUCTION."""

    @property
    def label(self) -> str:
        """Say that no model is behind it."""
        return "offline stand-in (no model configured)"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer the newest user text, or, after a tool, its result; never raises ModelError."""
        text, since = last_user_text(messages)
        results = [text_of(message.get("content")) for message in since if message.get("role") == "tool"]
        if results:
            for event in _spoken(_about(results[-1])):
                yield event
            yield Finished(FinishReason.STOP, None)
            return
        name, arguments = parse_command(text)
        if name is None:
            for event in _spoken(INTRODUCTION):
                yield event
            yield Finished(FinishReason.STOP, None)
            return
        if all(tool.name != name for tool in tools):
            for event in _spoken(f"I would use the tool {name}, but it is not offered to me here."):
                yield event
            yield Finished(FinishReason.STOP, None)
            return
        for event in _spoken(_intent(name, arguments)):
            yield event
        yield ToolCallReady(_new_id(messages), name, json.dumps(arguments, ensure_ascii=False))
        yield Finished(FinishReason.TOOL_CALLS, None)

    async def aclose(self) -> None:
        """Nothing is open."""


def parse_command(text: str) -> tuple[str | None, dict[str, str]]:
    """Return tool name and arguments for a user text that is one of the four commands, (None, {}) for any other."""
    typed = _ATTACHMENTS.sub("", text).strip()
    for name, pattern in _COMMANDS:
        match = pattern.fullmatch(typed)
        if match:
            return name, {key: value or "" for key, value in match.groupdict().items()}
    return None, {}


def _intent(name: str, arguments: Mapping[str, str]) -> str:
    if name == "bash":
        return f"I will run `{arguments['command']}`."
    verb = {"read_file": "read", "write_file": "write", "edit_file": "edit"}[name]
    return f"I will {verb} {arguments['path']}."


def _about(result: str) -> str:
    if "rejected by the user" in result:
        return "You did not allow it, so nothing was done."
    said = result.strip()
    if not said:
        return "Done; the tool gave no output."
    cut = said if len(said) <= _MAX_QUOTED else said[:_MAX_QUOTED].rstrip() + " …"
    return f"Done. The tool says:\n\n{cut}"


def _spoken(text: str) -> Iterator[TextDelta]:
    """Cut text into words as a model streams them; joined, they are the text."""
    return (TextDelta(word[0]) for word in _WORD.finditer(text))


def _new_id(messages: Sequence[Message]) -> str:
    used: set[object] = set()
    for message in messages:
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            used.update(call.get("id") for call in calls if isinstance(call, dict))
    number = len(used) + 1
    while f"offline_{number}" in used:
        number += 1
    return f"offline_{number}"
