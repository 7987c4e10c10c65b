"""Conversations with an agent that keeps sessions, for the tests of what a person lives with: one noun, a talk.

Owns the client's and the model's side of whole turns, and the reading of the session files. Each request to the model
is checked: what it gets is a valid history, with no mark of ours in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model_server import ModelCall, ModelServer, assert_valid_history
from raw_client import Agent, Message

from acp_agent.protocol import schema

SESSIONS = "[sessions]\nenabled = true\n"

_MEMBERS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "tool_call_id", "content"},
}


def model_config(model: ModelServer, more: str = "") -> str:
    return f'[model]\nprovider = "openai"\nbaseUrl = "{model.url}"\nname = "m"\nretries = 0\n{more}'


def assert_fit_for_a_model(messages: list[Message]) -> None:
    """A valid history, and no private marks."""
    assert_valid_history(messages)
    for message in messages:
        assert set(message) <= _MEMBERS[message["role"]]


def next_call(model: ModelServer) -> ModelCall:
    """The next request, checked."""
    call = model.next()
    assert_fit_for_a_model(call.messages)
    return call


def said(call: ModelCall) -> list[tuple[str, str]]:
    """Role and text of what the model is sent, without the system prompt."""
    return [(one["role"], one["content"]) for one in call.messages[1:]]


def usage(call: ModelCall, tokens: int) -> None:
    """Count tokens, as servers do in a chunk of their own."""
    counts = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
    call.raw(b"data: " + json.dumps({"choices": [], "usage": counts}).encode() + b"\n\n")


def talk(
    agent: Agent,
    model: ModelServer,
    session: str,
    text: str = "question",
    answer: str = "answer",
    *,
    tokens: int | None = None,
    stop: str = "end_turn",
) -> ModelCall:
    """One turn of one question and one answer; the model's request."""
    prompt = agent.prompt(session, text)
    call = next_call(model)
    call.text(answer)
    if tokens is not None:
        usage(call, tokens)
    call.finish()
    assert agent.answer(prompt)["result"] == {"stopReason": stop}
    return call


def work(
    agent: Agent,
    model: ModelServer,
    session: str,
    tool: str,
    arguments: object,
    id_: str = "t1",
    permit: str | None = None,
) -> str:
    """One turn with one tool call; what the model was told. permit: None if nobody is to be asked."""
    prompt = agent.prompt(session, "go")
    next_call(model).tool(tool, arguments, id_).finish("tool_calls")
    if permit is not None:
        agent.choose(agent.permission(), permit)
    call = next_call(model)
    told: str = call.messages[-1]["content"]
    call.text("done").finish()
    assert agent.answer(prompt)["result"] == {"stopReason": "end_turn"}
    return told


def load(agent: Agent, session: str, cwd: Path) -> Message:
    """Load a session; the whole response."""
    return agent.call("session/load", {"sessionId": session, "cwd": str(cwd), "mcpServers": []})


def directory(cwd: Path) -> Path:
    return cwd / ".acp-agent" / "sessions"


def stored(cwd: Path, session: str) -> dict[str, Any]:
    """What is on disk, which has to be as the bundled schema says."""
    document: dict[str, Any] = json.loads((directory(cwd) / f"{session}.json").read_bytes())
    assert schema.is_valid_document("session.json", document)
    assert document["id"] == session
    return document


def stored_texts(cwd: Path, session: str) -> list[tuple[str, str]]:
    """Role and text of the stored messages, without the system prompt."""
    return [(one["role"], one["content"]) for one in stored(cwd, session)["messages"][1:]]


def ids_on_disk(cwd: Path) -> set[str]:
    return {path.stem for path in directory(cwd).glob("*.json")}


def only_text(agent: Agent, session: str, since: int) -> str:
    """The text of the one update there was in a session since then."""
    (update,) = agent.updates(session, since)
    assert update["sessionUpdate"] == "agent_message_chunk"
    assert set(update) == {"sessionUpdate", "content"}
    assert set(update["content"]) == {"type", "text"}
    text: str = update["content"]["text"]
    return text


def run_command(agent: Agent, session: str, command: str) -> str:
    """A command that needs no model: its one chunk."""
    since = len(agent.messages)
    assert agent.turn(session, command)["result"] == {"stopReason": "end_turn"}
    return only_text(agent, session, since)


def log_line(agent: Agent, line: str) -> None:
    """Wait until standard error has this line, whole."""
    agent.until_stderr(lambda text: f"[acp] {line}\n" in text)


def log_lines(agent: Agent, session: str) -> list[str]:
    """What was said of a session so far, without what begins every line. Log lines are gathered for a moment: a line
    that is caused now comes after all before it."""
    mark = f"_mark/{len(agent.record)}"
    agent.call(mark)
    text = agent.until_stderr(lambda text: f"method {mark}\n" in text)
    begin = f"[acp] session {session}"
    return [line.removeprefix(begin).lstrip(": ") for line in text.splitlines() if line.startswith(begin)]


def write_skill(folder: Path, description: str = "Greet somebody.", body: str = "Say hello.\n") -> None:
    """A skill that is named as its folder."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {description}\n---\n{body}")
