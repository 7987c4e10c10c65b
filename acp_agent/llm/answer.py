"""One answer, chunk by chunk: what a chat completion stream means, without reading it from anywhere.

Owns the rules for chunks as servers really send them (no choices, usage anywhere, finish reasons that contradict the
calls, errors in the middle) and for how an answer may end. Pure: the same chunks give the same events. Absent: the
connection, the event format (sse.py), retries (client.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum, auto

from acp_agent.llm.deltas import ToolCallAssembler, encodable
from acp_agent.llm.errors import ModelBadAnswer
from acp_agent.llm.model import (
    Finished,
    FinishReason,
    ModelEvent,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from acp_agent.llm.refusals import ServerAddress, refusal_in_stream

_REASONS = {
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "max_output_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "content-filter": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}
"""Finish reasons that matter, in lower case; with any other, calls are run if there are some."""

_BREAKDOWNS = frozenset({"error", "insufficient_system_resource", "abort"})
"""Finish reasons by which servers say that they failed, not that the model ended."""


class End(Enum):
    """How a stream came to its end."""

    DONE = auto()
    """The server said [DONE]."""
    CLOSED = auto()
    """The body ended in order, without [DONE]."""
    BROKEN = auto()
    """The connection broke."""


class AnswerReader:
    """Turns the chunks of one answer into events."""

    def __init__(
        self, address: ServerAddress, tool_names: Collection[str] = (), used_ids: Iterable[str] = ()
    ) -> None:
        """address: for the sentences of errors. tool_names, used_ids: see ToolCallAssembler."""
        self._address = address
        self._calls = ToolCallAssembler(tool_names, used_ids)
        self._legacy_call = ToolCallAssembler(tool_names, used_ids)
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._seen_choice = False
        self._seen_delta = False
        self._held: dict[type[TextDelta] | type[ReasoningDelta], str] = {TextDelta: "", ReasoningDelta: ""}

    @property
    def complete(self) -> bool:
        """Whether the server gave a finish reason, so that nothing but usage is still to come."""
        return self._reason is not None

    def feed(self, chunk: object) -> list[ModelEvent]:
        """Take one decoded chunk (or a whole completion, or a list of chunks); return what it says, perhaps nothing.

        Values of other types than expected are taken as absent. Raises ModelError for an error the server reports."""
        if isinstance(chunk, list):
            return [event for one in chunk for event in self.feed(one)]
        if not isinstance(chunk, dict):
            return []
        if chunk.get("error"):
            raise refusal_in_stream(chunk, self._address)
        self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        if isinstance(choices, dict):
            choices = [choices]
        if not isinstance(choices, list):
            return []
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                return self._choice(choice)
        return []

    def _choice(self, choice: dict[str, object]) -> list[ModelEvent]:
        if choice.get("error"):
            raise refusal_in_stream(choice, self._address)
        self._seen_choice = True
        self._take_usage(choice.get("usage"))
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._seen_delta = True
        elif not self._seen_delta:
            # A whole message: no stream at all, or a server that streams messages. After deltas it only repeats them.
            delta = choice.get("message")
        events = self._delta(delta) if isinstance(delta, dict) else []
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._reason = reason.lower()
            if self._reason in _BREAKDOWNS:
                raise ModelBadAnswer(
                    f"the model server at {self._address.url} gave up in the middle of the answer ({self._reason})",
                    retryable=True,
                )
        return events

    def _delta(self, delta: dict[str, object]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        content = delta.get("content")
        for name in ("reasoning_content", "reasoning", "thinking"):
            thought = _plain(delta.get(name))
            if thought:
                self._say(ReasoningDelta, thought, events)
                break
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict):
                    self._say(ReasoningDelta, _plain(part.get("thinking")), events)
                    self._say(TextDelta, _plain(part.get("text")), events)
        else:
            self._say(TextDelta, _plain(content), events)
        self._say(TextDelta, _plain(delta.get("refusal")), events)
        self._calls.add(delta.get("tool_calls"))
        function_call = delta.get("function_call")
        if function_call:
            self._legacy_call.add([{"index": 0, "function": function_call}])
        return events

    def _say(self, kind: type[TextDelta] | type[ReasoningDelta], text: str, events: list[ModelEvent]) -> None:
        if not text:
            return
        # A character outside the basic plane may come as two escapes in two chunks: its first half waits.
        text = self._held[kind] + text
        self._held[kind] = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        text = encodable(text.removesuffix(self._held[kind]))
        if text:
            events.append(kind(text))

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            read = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
            written = _count(usage.get("completion_tokens", usage.get("output_tokens")))
            if read or written:
                self._usage = Usage(read, written)

    def close(self, end: End) -> list[ModelEvent]:
        """Return the last events: held halves, tool calls, Finished.

        An answer cut for length or by a filter gives no calls: the newest may be half, and a half plan is not to run.
        Raises ModelBadAnswer if the answer cannot be taken as whole: the connection broke before a finish reason, the
        body ended without a single choice, or without [DONE] inside the arguments of a call."""
        calls = self._calls or self._legacy_call
        if not self.complete:
            if end is End.BROKEN:
                raise ModelBadAnswer(
                    f"the connection to the model server at {self._address.url} broke in the middle of the answer"
                )
            if end is End.CLOSED and not self._seen_choice:
                raise ModelBadAnswer(
                    f"the model server at {self._address.url} closed the connection without an answer",
                    retryable=True,
                )
            if end is End.CLOSED and calls.ends_inside_a_call():
                raise ModelBadAnswer(
                    f"the answer of the model server at {self._address.url} ended in the middle of a tool call"
                )
        events: list[ModelEvent] = []
        for kind, half in self._held.items():
            if half:
                events.append(kind("\ufffd"))
        reason = _REASONS.get(self._reason or "", FinishReason.STOP)
        if reason is FinishReason.STOP:
            ready = calls.finish()
            events.extend(ready)
            reason = FinishReason.TOOL_CALLS if ready else FinishReason.STOP
        events.append(Finished(reason, self._usage))
        return events


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_plain(part.get("text")) for part in value if isinstance(part, dict))
    return ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
