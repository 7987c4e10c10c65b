"""A model that is a file: plays the replies of a script, for tests, demos and measurements.

Owns the playing. Absent: the file format and its check (script.py). Which reply is next is not kept here but counted in
the conversation, as the assistant messages since the newest user text, so one model serves any number of sessions.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acp_agent.llm.errors import ModelError, ModelRefused
from acp_agent.llm.model import (
    Finished,
    FinishReason,
    Message,
    ModelEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolSpec,
    Usage,
    text_of,
)
from acp_agent.llm.script import ERROR_KINDS, Part, Reply, Rule, Script

_PLACE_HOLDER = re.compile(r"\{(\w+)\}")
_CHUNKS_A_STEP = 256
"""Chunks between two steps of the event loop: a real model also lets others run, but not for each chunk."""


class ScriptedModel:
    """Plays a Script."""

    def __init__(self, script: Script) -> None:
        """script: as load_script gives it."""
        self._script = script
        self._counted: _Counted | None = None
        self._calls_made = 0

    @property
    def label(self) -> str:
        """Name of the script and its file."""
        return f"{self._script.name} (scripted, {self._script.path.name})"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        """Play the reply that is due.

        Raises the ModelError an error part names, and ModelRefused when no rule or reply fits, or a place holder gives
        no whole number where one is needed."""
        text, call = self._place_in(messages)
        rule, groups = self._rule_for(text.strip())
        turn = _Turn(self._script.path, rule, groups)
        reply = turn.reply_at(call)
        calls = 0
        for part in reply.parts:
            kind = part.kind
            if kind in ("text", "reasoning"):
                event = turn.spoken(part)
                if event is None:
                    continue
                remaining = turn.number(part.repeat, "repeat")
                while remaining > 0:
                    for _ in range(min(remaining, _CHUNKS_A_STEP)):
                        yield event
                    remaining -= _CHUNKS_A_STEP
                    if remaining > 0:
                        await asyncio.sleep(0)
            elif kind == "tool_call":
                calls += 1
                arguments = json.dumps(turn.filled(part.arguments), ensure_ascii=False)
                self._calls_made += 1
                # The length tells calls of a resumed conversation from those made here, the count tells these apart.
                call_id = f"scripted_{len(messages)}_{self._calls_made}"
                yield ToolCallReady(call_id, turn.filled_text(part.text), arguments)
            elif kind == "delay_ms":
                await asyncio.sleep(turn.number(part.repeat, "delay_ms") / 1000)
            else:
                raise ERROR_KINDS[part.error](turn.filled_text(part.text))
        reason = reply.finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        yield Finished(reason, Usage(*reply.usage) if reply.usage else None)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _place_in(self, messages: Sequence[Message]) -> tuple[str, int]:
        """Return the newest user text and how many model calls its turn has had.

        A conversation that only grew since the last call is counted on from there: a turn of a thousand tool calls
        would else spend its time on counting."""
        seen = self._counted
        if seen is None or not seen.begins(messages):
            seen = _Counted()
        for position in range(seen.length, len(messages)):
            role = messages[position].get("role")
            if role == "user":
                seen.user_at, seen.calls = position, 0
            elif role == "assistant":
                seen.calls += 1
        seen.length = len(messages)
        seen.last = messages[-1] if messages else None
        seen.user = messages[seen.user_at] if seen.user_at >= 0 else None
        self._counted = seen
        return text_of(seen.user.get("content")) if seen.user else "", seen.calls

    def _rule_for(self, text: str) -> tuple[Rule, Mapping[str, str]]:
        for rule in self._script.rules:
            if rule.exact is not None:
                if rule.exact == text:
                    return rule, {"0": text}
            elif rule.regex is None:
                return rule, {"0": text}
            else:
                match = rule.regex.fullmatch(text)
                if match:
                    numbered = {str(number): group or "" for number, group in enumerate(match.groups(), 1)}
                    named = {name: group or "" for name, group in match.groupdict().items()}
                    return rule, {"0": text, **numbered, **named}
        shown = text if len(text) <= 60 else text[:59] + "…"
        raise ModelRefused(
            f'{self._script.path}: no rule fits the text "{" ".join(shown.split())}" and there is no default rule'
        )


@dataclass(slots=True)
class _Counted:
    """How far a conversation has been read."""

    length: int = 0
    last: Message | None = None
    user_at: int = -1
    user: Message | None = None
    calls: int = 0

    def begins(self, messages: Sequence[Message]) -> bool:
        """Whether what was read is the beginning of messages."""
        if not 0 < self.length <= len(messages) or messages[self.length - 1] is not self.last:
            return False
        return self.user_at < 0 or messages[self.user_at] is self.user


class _Turn:
    """One rule with the groups of the text it fitted."""

    def __init__(self, path: Path, rule: Rule, groups: Mapping[str, str]) -> None:
        self._path = path
        self._rule = rule
        self._groups = {"script": str(path), **groups}

    def reply_at(self, call: int) -> Reply:
        """Return the reply to model call number `call` of the turn, counted from 0, each as often as its cycles say."""
        before = 0
        for reply in self._rule.replies:
            before += self.number(reply.cycles, "cycles")
            if call < before:
                return reply
        raise self._error(
            f"has replies for {before} model call(s), and call {call + 1} of this turn needs another"
        )

    def spoken(self, part: Part) -> TextDelta | ReasoningDelta | None:
        """Return the one event a text part repeats, None when its text is empty."""
        text = self.filled_text(part.text) * self.number(part.times, "times")
        if not text:
            return None
        return TextDelta(text) if part.kind == "text" else ReasoningDelta(text)

    def number(self, value: int | str, member: str) -> int:
        if isinstance(value, int):
            return value
        text = self.filled_text(value)
        if not (text.isascii() and text.isdecimal() and len(text) <= 12):
            raise self._error(f'{member} should be a whole number, got "{text[:40]}" from "{value}"')
        return int(text)

    def filled_text(self, text: str) -> str:
        """Replace {1}, {name}, {0} (the whole text) and {script}; braces around anything else stay as they are."""
        if "{" not in text:
            return text
        return _PLACE_HOLDER.sub(lambda match: self._groups.get(match[1], match[0]), text)

    def filled(self, value: object) -> object:
        """Replace place holders in all the strings of a JSON value."""
        if isinstance(value, str):
            return self.filled_text(value)
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        return value

    def _error(self, problem: str) -> ModelError:
        return ModelRefused(f"{self._path}: rule {self._rule.number} {problem}")
