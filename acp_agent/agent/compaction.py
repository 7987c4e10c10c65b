"""Compressing a conversation: older turns become one summary that the model writes, the last turns stay as they are.

Owns what the model is asked for, and the line that says what came of it. A history is changed only when there is a
summary to put in. Deliberately absent: when to compress (turn.py, commands.py) and the cutting itself (history.py).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

from acp_agent.agent.history import History
from acp_agent.llm.errors import ContextOverflow, ModelError, ModelRefused
from acp_agent.llm.model import Finished, FinishReason, Message, Model, TextDelta

# What a token is in characters where no server has counted: near enough for a person to see the effect.
_CHARACTERS_A_TOKEN: Final = 4
# Of one message in the transcript: what a tool printed is rarely worth more than its head and its tail. Where the
# model has no room for so much, or none left for its summary, it gets less.
_MESSAGE_CHARACTERS: Final = (4000, 800, 160)

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
    *more, least = _MESSAGE_CHARACTERS
    for limit in more:
        with contextlib.suppress(ContextOverflow):
            return await _written(older, model, limit)
    return await _written(older, model, least)


async def _written(older: Sequence[Message], model: Model, limit: int) -> str:
    """The model's summary of a transcript with at most limit characters of each message."""
    request: list[Message] = [
        {"role": "system", "content": _TASK},
        {"role": "user", "content": "\n\n".join(_shown(message, limit) for message in older)},
    ]
    text: list[str] = []
    async with aclosing(model.stream(request, ())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, Finished):
                _require_whole(event.reason)
    return "".join(text).strip()


def _require_whole(reason: FinishReason) -> None:
    """Half a summary would lose the other half for good."""
    if reason is FinishReason.LENGTH:
        raise ContextOverflow(
            "the model's summary was cut off; raise model.maxTokens, or begin anew with /new"
        )
    if reason is FinishReason.CONTENT_FILTER:
        raise ModelRefused("the model declined to write a summary")


def _shown(message: Message, limit: int) -> str:
    """A message as a paragraph of the transcript."""
    is_summary = "summary" in message
    # What is left of the turns before that is not cut down again.
    parts = [_clipped(str(message.get("content") or ""), _MESSAGE_CHARACTERS[0] if is_summary else limit)]
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        parts += [f"[calls {_clipped(str(call['function']), limit)}]" for call in calls]
    who = "summary of what came before" if is_summary else message["role"]
    return f"{who}: " + "\n".join(part for part in parts if part)


def _clipped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _size(messages: Sequence[Message]) -> int:
    """The characters of all of it; at least 1."""
    parts = (message.get(name) for message in messages for name in ("content", "tool_calls"))
    return sum(len(str(part)) for part in parts if part) or 1
