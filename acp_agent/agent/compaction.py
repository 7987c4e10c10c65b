"""Compressing a conversation: older turns become one summary that the model writes, the last turns stay as they are.

Owns what the model is asked for, and the line that says what came of it. A history is changed only when there is a
summary to put in. Deliberately absent: when to compress (turn.py, commands.py) and the cutting itself (history.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

from acp_agent.agent.history import History
from acp_agent.llm.errors import ModelError
from acp_agent.llm.model import Message, Model, TextDelta

# What a token is in characters where no server has counted: near enough for a person to see the effect.
_CHARACTERS_A_TOKEN: Final = 4
# Of one message in the transcript: what a tool printed is rarely worth more than its head and its tail.
_MESSAGE_CHARACTERS: Final = 4000

_TASK: Final = """\
You compress the older part of a conversation between a user and a coding agent, so that the agent can go on without \
it. Write down, briefly and completely, what it will need: what the user wants and has decided, what was found out \
(files, names, commands and their results that matter), what was changed, and what is still to be done. Keep exact \
names, paths and numbers. Leave out greetings and detours. Answer with that text alone."""


class Compaction(NamedTuple):
    """What came of it. line: one line for a person. changed: whether the history is another one now."""

    line: str
    changed: bool


async def compact(
    history: History, model: Model, *, keep_last_turns: int, input_tokens: int | None
) -> Compaction:
    """Compress all but the last turns.

    input_tokens: what the server counted for the last request, None if unknown. Cancelled, it changes nothing.
    """
    older = history.older_turns(keep_last_turns)
    if not older:
        kept = f"no turn older than the last {keep_last_turns}"
        return Compaction(f"🗜️ nothing to compact: {len(history)} message(s), {kept}", changed=False)
    started = time.monotonic()
    try:
        summary = await _summary(older, model)
    except ModelError as error:
        return Compaction(f"[compact: failed, history kept: {error}]", changed=False)
    if not summary:
        return Compaction("[compact: failed, history kept: the model wrote no summary]", changed=False)
    size = _size(history.messages())
    history.summarise(older, summary)
    before = input_tokens or size // _CHARACTERS_A_TOKEN
    after = round(before * _size(history.messages()) / size)
    seconds = time.monotonic() - started
    return Compaction(
        f"🗜️ compressed {len(older)} messages → 1 summary + {len(history) - 1} kept"
        f" ({before} → {after} tokens, {seconds:.1f}s)",
        changed=True,
    )


async def _summary(older: Sequence[Message], model: Model) -> str:
    request: list[Message] = [
        {"role": "system", "content": _TASK},
        {"role": "user", "content": "\n\n".join(_shown(message) for message in older)},
    ]
    text: list[str] = []
    async with aclosing(model.stream(request, ())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text.append(event.text)
    return "".join(text).strip()


def _shown(message: Message) -> str:
    """A message as a paragraph of the transcript."""
    parts = [_clipped(str(message.get("content") or ""))]
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        parts += [f"[calls {_clipped(str(call['function']))}]" for call in calls]
    who = "summary of what came before" if message.get("summary") else message["role"]
    return f"{who}: " + "\n".join(part for part in parts if part)


def _clipped(text: str) -> str:
    if len(text) <= _MESSAGE_CHARACTERS:
        return text
    half = _MESSAGE_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _size(messages: Sequence[Message]) -> int:
    """The characters of all of it; at least 1."""
    parts = (message.get(name) for message in messages for name in ("content", "tool_calls"))
    return sum(len(str(part)) for part in parts if part) or 1
