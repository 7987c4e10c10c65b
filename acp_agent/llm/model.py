"""What a model is to the rest of the program: messages in, events out.

Owns the value types of that contract and the `Model` protocol. Absent: everything about how an answer is got
(client.py, offline.py, scripted.py), and the conversation itself, whose order and completeness are the caller's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

Message = dict[str, object]
"""One message in the OpenAI chat form:
{"role": "system" | "user" | "assistant" | "tool", "content": str | None,
 "tool_calls"?: [{"id": str, "type": "function", "function": {"name": str, "arguments": str}}],
 "tool_call_id"?: str}."""


class FinishReason(StrEnum):
    """Why an answer ended, in four words whatever the server called it."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"


class Usage(NamedTuple):
    """Tokens of one model call as the server counted them; 0 where it did not say."""

    input_tokens: int
    output_tokens: int


class TextDelta(NamedTuple):
    """A piece of the answer, never empty, white space as the model gave it, always encodable as UTF-8."""

    text: str


class ReasoningDelta(NamedTuple):
    """A piece of what the model thinks aloud; not part of the answer and not to be sent back."""

    text: str


class ToolCallReady(NamedTuple):
    """One whole tool call.

    id: unique in the conversation that was sent and in this answer.
    name: as the model gave it, perhaps no tool that exists; never empty.
    arguments: JSON text as the model gave it, "{}" where it gave nothing. It may still be malformed: that is for the
    reader of the arguments to say, so that the model learns of it."""

    id: str
    name: str
    arguments: str


class Finished(NamedTuple):
    """The last event of every answer that did not fail. TOOL_CALLS if and only if a ToolCallReady came before."""

    reason: FinishReason
    usage: Usage | None


ModelEvent = TextDelta | ReasoningDelta | ToolCallReady | Finished


class ToolSpec(NamedTuple):
    """A tool as it is offered to the model; parameters is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]


class Model(Protocol):
    """Something that answers a conversation."""

    @property
    def label(self) -> str:
        """Name and address for a banner, without secrets."""

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        """Answer once: any number of events, then exactly one Finished, or a ModelError raised.

        Closing the generator, or cancelling the task that waits for it, aborts the request at once; use
        `contextlib.aclosing` so that leaving the loop early closes it. The messages are not changed."""

    async def aclose(self) -> None:
        """Give back connections; the model is not used afterwards."""


def last_user_text(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Return the newest user text and the messages that follow it; ("", []) when there is none.

    What the built-in models answer to: they hold no state of their own between calls."""
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].get("role") == "user":
            return text_of(messages[position].get("content")), messages[position + 1 :]
    return "", []


def text_of(content: object) -> str:
    """Return the text of a message's content, a string or a list of parts of which those of type text count."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""
