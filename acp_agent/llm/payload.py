"""The body of a chat completion request.

Owns what is sent and the last repair of it: the order and completeness of the conversation are the caller's, but
servers also read inside the calls of earlier answers, and one malformed call would make every later request fail. So
arguments that are no JSON object are sent as "{}", and a name that no server takes is sent with "_" for the characters
in question; the model has learned of the mistake from the result of that call. The caller's messages are not changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from acp_agent.llm.deltas import UNNAMED, is_json_object
from acp_agent.llm.model import Message, ToolSpec

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64

STREAM_OPTIONS = "stream_options"
MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"
TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Sampling:
    """What the user set about the answer; None is left to the server."""

    temperature: float | None = None
    max_tokens: int | None = None


def request_body(
    name: str,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    sampling: Sampling,
    refused: Collection[str] = (),
) -> bytes:
    """Return the JSON text of a streaming request.

    refused: names of optional members this server has refused before; they are left out, and max_tokens goes by its
    newer name."""
    body: dict[str, object] = {
        "model": name,
        "messages": [_sendable(message) for message in messages],
        "stream": True,
    }
    if STREAM_OPTIONS not in refused:
        body[STREAM_OPTIONS] = {"include_usage": True}
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ]
    if sampling.temperature is not None and TEMPERATURE not in refused:
        body[TEMPERATURE] = sampling.temperature
    if sampling.max_tokens is not None:
        body[MAX_COMPLETION_TOKENS if MAX_TOKENS in refused else MAX_TOKENS] = sampling.max_tokens
    # Lone surrogates, which UTF-8 cannot hold, become question marks.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def refused_member(said: str, body: bytes) -> str | None:
    """Return the optional member a 400 or 422 complains about, if this body has it.

    said: the server's body. Asking again without that member is then worth one more request."""
    for member in (STREAM_OPTIONS, TEMPERATURE):
        if member in said and f'"{member}":'.encode() in body:
            return member
    if MAX_COMPLETION_TOKENS in said and f'"{MAX_TOKENS}":'.encode() in body:
        return MAX_TOKENS
    return None


def _sendable(message: Message) -> Message:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    repaired = [_sendable_call(call) for call in calls]
    return message if repaired == calls else {**message, "tool_calls": repaired}


def _sendable_call(call: object) -> object:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        return call
    name = _NOT_IN_NAMES.sub("_", str(function.get("name") or UNNAMED))[:_MAX_NAME]
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or not is_json_object(arguments):
        arguments = "{}"
    return {**call, "function": {**function, "name": name, "arguments": arguments}}
