"""What every server of models asks of a conversation, said once more apart from the agent's own code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def assert_valid(messages: Sequence[dict[str, Any]]) -> None:
    """The system prompt first and once, nothing empty, right behind each call its one result, and no other results."""
    assert [message["role"] for message in messages].count("system") == 1
    assert messages[0]["role"] == "system"
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert not waiting, "calls without results"
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [])
            assert message["content"] or calls, "an answer that says nothing"
            waiting = [call["id"] for call in calls]
        else:
            assert isinstance(message["content"], str)
        assert not {"summary", "failed"} & message.keys(), "a mark of ours is sent"
    assert not waiting, "calls without results"
