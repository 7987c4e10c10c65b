"""A stored conversation as the updates that show it again: what a client is sent while it loads a session.

Owns the order (the record's own), what of the record is shown, and the ids of the calls. Nothing runs and nobody is
asked. Deliberately absent: sending (whoever iterates does, at the pace of the client), and the record's format
(stored_session.py).

Source: ACP v1 "Loading sessions"; rules R-062, R-063.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from acp_agent.agent.tool_calls import Described, describe, describe_unreadable
from acp_agent.agent.updates import Update, message_chunk, tool_call, user_message_chunk
from acp_agent.llm.model import Message
from acp_agent.tools.base import ToolError
from acp_agent.tools.registry import ToolRegistry

SUMMARY_MARK: Final = "🗜️ "


def replay(
    messages: Sequence[Message], session_cwd: Path, tools: ToolRegistry, not_for_these: Collection[str] = ()
) -> Iterator[Update]:
    """One update for each thing said or done, oldest first, made when it is asked for.

    messages: with the marks `summary` and `failed`; not to change until the last update is made. A system prompt is
    not shown, an answer without text neither, and a result not apart from its call. A call's id is the one the
    model gave; one of ours, `replayed_<n>`, where that is empty, was there before, or is in not_for_these, under which
    the client knows other calls. A live call of the session must get an id that none of these updates has had.
    """
    taken = set(not_for_these)
    numbers = itertools.count(1)
    for position, message in enumerate(messages):
        text = message["content"]
        if message["role"] == "user":
            shown = str(text)
            yield message_chunk(SUMMARY_MARK + shown) if "summary" in message else user_message_chunk(shown)
        elif message["role"] == "assistant":
            if text:
                yield message_chunk(str(text))
            calls = message.get("tool_calls")
            if not isinstance(calls, list):
                continue
            results = _results(messages, position + 1)
            for call in calls:
                call_id = call["id"]
                while not call_id or call_id in taken:
                    call_id = f"replayed_{next(numbers)}"
                taken.add(call_id)
                given = results.get(call["id"])
                yield _shown(
                    call_id, call["function"], given.popleft() if given else None, session_cwd, tools
                )


def _results(messages: Sequence[Message], start: int) -> dict[object, deque[Message]]:
    """The results that follow an answer, by the id of their call; several calls of one id in their order."""
    results: dict[object, deque[Message]] = {}
    for position in range(start, len(messages)):
        message = messages[position]
        if message["role"] != "tool":
            break
        results.setdefault(message["tool_call_id"], deque()).append(message)
    return results


def _shown(
    call_id: str, function: dict[str, Any], result: Message | None, cwd: Path, tools: ToolRegistry
) -> Update:
    described = _described(function["name"], function["arguments"], cwd, tools)
    if result is None:
        return tool_call(call_id, **described, status="failed")
    return tool_call(
        call_id,
        **described,
        status="failed" if "failed" in result else "completed",
        output=str(result["content"]),
    )


def _described(name: str, arguments_json: str, cwd: Path, tools: ToolRegistry) -> Described:
    try:
        tool, arguments = tools.parse(name, arguments_json)
    except ToolError:
        return describe_unreadable(name, arguments_json)
    return describe(tool, arguments, cwd)
