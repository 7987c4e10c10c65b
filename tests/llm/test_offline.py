"""The stand-in that needs no server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from acp_agent.llm.model import Finished, FinishReason, Message, TextDelta, ToolCallReady, ToolSpec
from acp_agent.llm.offline import INTRODUCTION, OfflineModel, parse_command

TOOLS = [ToolSpec(name, "", {}) for name in ("bash", "read_file", "write_file", "edit_file")]


def answer(*messages: Message, tools: list[ToolSpec] = TOOLS) -> list[Any]:
    async def collect() -> list[Any]:
        return [event async for event in OfflineModel().stream(messages, tools)]

    return asyncio.run(collect())


def said(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def user(text: object) -> Message:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("run ls -l", "bash", {"command": "ls -l"}),
        ("  Run echo a\necho b\n", "bash", {"command": "echo a\necho b"}),
        ("run cat x\n[attached file: /x]\n[attached file: /y]", "bash", {"command": "cat x"}),
        ("run ls @src\n[attached directory: /src]", "bash", {"command": "ls @src"}),
        ("read a\n[attached directory: /d]\n[attached file: /a]", "read_file", {"path": "a"}),
        ("read a b.txt", "read_file", {"path": "a b.txt"}),
        ("write a.txt: hello: you", "write_file", {"path": "a.txt", "content": "hello: you"}),
        ("write a.txt:\nline 1\nline 2", "write_file", {"path": "a.txt", "content": "line 1\nline 2"}),
        ("write a.txt:", "write_file", {"path": "a.txt", "content": ""}),
        (
            "edit a.txt: old text => new => text",
            "edit_file",
            {"path": "a.txt", "old_text": "old text", "new_text": "new => text"},
        ),
        ("edit a.txt: gone => ", "edit_file", {"path": "a.txt", "old_text": "gone", "new_text": ""}),
    ],
)
def test_the_four_commands_are_tool_calls(text: str, tool: str, arguments: dict[str, str]) -> None:
    """Announced in a sentence, then called."""
    events = answer(user(text))
    call, finished = events[-2:]
    assert said(events)
    assert isinstance(call, ToolCallReady)
    assert (call.name, json.loads(call.arguments)) == (tool, arguments)
    assert finished == Finished(FinishReason.TOOL_CALLS, None)


@pytest.mark.parametrize(
    "text", ["hello", "", "running late", "run", "write a.txt", "edit a.txt: no arrow", "please run ls"]
)
def test_anything_else_is_answered_with_what_it_is_and_how_to_configure_a_model(text: str) -> None:
    """Word by word, white space kept."""
    events = answer(user(text))
    assert said(events) == INTRODUCTION
    assert len(events) > 30
    assert events[-1] == Finished(FinishReason.STOP, None)
    assert "provider" in INTRODUCTION
    assert "baseUrl" in INTRODUCTION


def test_the_configuration_it_shows_is_toml() -> None:
    """A person copies it."""
    import tomllib

    section = INTRODUCTION[INTRODUCTION.index("[model]") : INTRODUCTION.index("\n\nAny")]
    assert set(tomllib.loads(section)["model"]) == {"provider", "baseUrl", "name"}


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("total 0", "total 0"),
        ("[command rejected by the user]", "You did not allow it"),
        ("", "no output"),
        ("no such file: a.txt", "no such file: a.txt"),
    ],
)
def test_a_tool_result_is_answered_in_a_sentence(result: str, words: str) -> None:
    """Refused and failed calls too; the answer ends the turn."""
    call = {"id": "offline_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    events = answer(
        user("run ls"),
        {"role": "assistant", "content": "I will", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "offline_1", "content": result},
    )
    assert words in said(events)
    assert events[-1] == Finished(FinishReason.STOP, None)


def test_a_long_result_is_quoted_in_part() -> None:
    """The whole is in the tool call."""
    assert len(said(answer(user("run x"), {"role": "tool", "content": "x" * 10_000}))) < 1000


def test_ids_are_unique_in_the_conversation() -> None:
    """Also with calls of another model in it."""
    calls = [{"id": one, "function": {}} for one in ("offline_3", "x")]
    past: list[Message] = [
        user("run a"),
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": "a"},
    ]
    call = answer(*past, user("run b"))[-2]
    assert call.id not in ("offline_3", "x")


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    """It says so instead."""
    events = answer(user("run ls"), tools=[])
    assert events[-1].reason is FinishReason.STOP
    assert "bash" in said(events)


def test_content_in_parts_and_no_user_text_at_all_are_understood() -> None:
    """Both forms of a message."""
    assert answer(user([{"type": "text", "text": "run ls"}]))[-1].reason is FinishReason.TOOL_CALLS
    assert said(answer({"role": "system", "content": "run ls"})) == INTRODUCTION
    assert parse_command("x") == (None, {})
    assert "offline" in OfflineModel().label
