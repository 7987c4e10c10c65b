"""What stands in the client's `/` menu, and the two commands that Bob carries out himself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kept_sessions import (
    log_line,
    log_lines,
    model_config,
    next_call,
    only_text,
    run_command,
    said,
    talk,
    work,
    write_skill,
)
from model_server import ModelServer
from raw_client import Agent, Message

HINT = {"hint": "parameters, if this skill needs any"}
COMMANDS = [
    {"name": "new", "description": "Clear the history and start a new session"},
    {"name": "compact", "description": "Compress the history now, keeping the last turns"},
]


def advertised(agent: Agent) -> list[Message]:
    """Every update of the commands so far."""
    return [
        message["params"]
        for message in agent.messages
        if message.get("params", {}).get("update", {}).get("sessionUpdate") == "available_commands_update"
    ]


# -- the menu


def test_the_commands_follow_the_answer_to_session_new(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Right after the response, never before it, once a session; exactly these members."""
    bob = start()
    bob.initialize()
    since = len(bob.messages)
    new = {"cwd": str(tmp_path), "mcpServers": []}
    ids = [bob.request("session/new", new) for _ in range(5)]
    bob.barrier()
    expected: list[Message] = []
    for id_, answer in zip(ids, bob.messages[since:-1:2], strict=True):
        assert answer["id"] == id_
        session = answer["result"]["sessionId"]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": COMMANDS}
        params = {"sessionId": session, "update": update}
        expected += [answer, {"jsonrpc": "2.0", "method": "session/update", "params": params}]
    assert bob.messages[since:-1] == expected
    bob.assert_clean()


def test_a_session_that_is_not_opened_has_no_commands(start: Callable[..., Agent], tmp_path: Path) -> None:
    """An error names no session."""
    bob = start()
    bob.initialize()
    assert "error" in bob.call("session/new", {"cwd": str(tmp_path / "none"), "mcpServers": []})
    bob.barrier()
    assert advertised(bob) == []


def test_the_commands_are_said_once(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """No turn and no command says them again."""
    session = bob.new_session(tmp_path)
    talk(bob, model, session)
    run_command(bob, session, "/new")
    run_command(bob, session, "/compact")
    bob.barrier()
    assert sum(update["sessionId"] == session for update in advertised(bob)) == 1


def test_skills_follow_the_commands(bob: Agent, tmp_path: Path) -> None:
    """Each with its name, its description and an input; one named like a command is not there, and the log says so."""
    write_skill(tmp_path / "skills" / "greetings", "Greet somebody.")
    write_skill(tmp_path / "skills" / "new", "Not this one.")
    write_skill(tmp_path / ".agents" / "skills" / "compact", "Nor this.")
    write_skill(tmp_path / ".claude" / "skills" / "a-third", "Third place.")
    session = bob.new_session(tmp_path)
    (update,) = [one["update"] for one in advertised(bob) if one["sessionId"] == session]
    assert update["availableCommands"] == [
        *COMMANDS,
        {"name": "greetings", "description": "Greet somebody.", "input": HINT},
        {"name": "a-third", "description": "Third place.", "input": HINT},
    ]
    warnings = [line for line in log_lines(bob, session) if line.startswith("warning: ")]
    assert len(warnings) == 2
    for name in ("new", "compact"):
        assert any(f"/{name} is a command of the agent" in line for line in warnings)


# -- what is a command

COMMAND_PROMPTS: dict[str, str | list[Message]] = {
    "as it is": "/new",
    "white space": " \t\n/new\r\n ",
    "two blocks": [{"type": "text", "text": "/n"}, {"type": "text", "text": "ew"}],
    "beside what is ignored": [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "text", "text": "/new"},
    ],
}
NO_COMMANDS: dict[str, str | list[Message]] = {
    "with words": "/new session",
    "after words": "please /new",
    "capitals": "/New",
    "two strokes": "//new",
    "no stroke": "new",
    "a space": "/ new",
    "both": "/new\n/compact",
    "with a link": [
        {"type": "text", "text": "/new"},
        {"type": "resource_link", "name": "x", "uri": "file:///x"},
    ],
}


@pytest.mark.parametrize("prompt", COMMAND_PROMPTS.values(), ids=COMMAND_PROMPTS)
def test_a_command_is_the_whole_prompt(
    bob: Agent, model: ModelServer, tmp_path: Path, prompt: str | list[Message]
) -> None:
    """The flattened text, trimmed, is exactly the command; no model is asked."""
    session = bob.new_session(tmp_path)
    since = len(bob.messages)
    assert bob.turn(session, prompt)["result"] == {"stopReason": "end_turn"}
    assert only_text(bob, session, since) == "🆕 New session: 0 message(s) forgotten."
    assert not model.is_asked()


@pytest.mark.parametrize("prompt", NO_COMMANDS.values(), ids=NO_COMMANDS)
def test_anything_else_is_for_the_model(
    bob: Agent, model: ModelServer, tmp_path: Path, prompt: str | list[Message]
) -> None:
    """Left as typed."""
    session = bob.new_session(tmp_path)
    id_ = bob.prompt(session, prompt)
    call = next_call(model)
    text = prompt if isinstance(prompt, str) else "/new\n[attached file: /x]"
    assert said(call) == [("user", text)]
    call.text("ok").finish()
    bob.answer(id_)


def test_a_skill_cannot_stand_in_for_a_command(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """`/new` is the command; as `$new` the skill can still be asked for."""
    write_skill(tmp_path / "skills" / "new")
    session = bob.new_session(tmp_path)
    assert run_command(bob, session, "/new") == "🆕 New session: 0 message(s) forgotten."
    assert "$new" in said(talk(bob, model, session, "$new"))[0][1]


# -- /new


def test_new_forgets_the_conversation(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The history is the system prompt alone; the chunk and the log line count what was forgotten."""
    session = bob.new_session(tmp_path)
    first = talk(bob, model, session, "one", "two")
    work(bob, model, session, "bash", {"command": "true"}, permit="allow")
    assert run_command(bob, session, "/new") == "🆕 New session: 6 message(s) forgotten."
    log_line(bob, f"session {session}: new session, 6 message(s) forgotten")
    assert not model.is_asked()
    after = talk(bob, model, session, "three", "four")
    assert after.messages == [first.messages[0], {"role": "user", "content": "three"}]
    assert run_command(bob, session, "/new") == "🆕 New session: 2 message(s) forgotten."
    assert run_command(bob, session, "/new") == "🆕 New session: 0 message(s) forgotten."
    log_line(bob, f"session {session}: new session, 0 message(s) forgotten")


def test_new_keeps_directory_and_grants(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The session is the same one: its id, its cwd, and what is always allowed."""
    session = bob.new_session(tmp_path)
    assert work(bob, model, session, "bash", {"command": "pwd"}, permit="allow_always").startswith(
        str(tmp_path)
    )
    run_command(bob, session, "/new")
    since = len(bob.messages)
    assert work(bob, model, session, "bash", {"command": "pwd"}).startswith(str(tmp_path))
    assert not any(one.get("method") == "session/request_permission" for one in bob.messages[since:])


def test_new_concerns_its_own_session_alone(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Another session's history stays."""
    one, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    talk(bob, model, one, "in one")
    talk(bob, model, other, "in other")
    run_command(bob, one, "/new")
    assert [text for _, text in said(talk(bob, model, other, "more"))] == ["in other", "answer", "more"]


def test_new_forgets_how_many_tokens_there_were(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """After it the next prompt compresses nothing, whatever the last turn had counted; without it, it tries."""
    bob = start(model_config(own_model, "[context]\nthreshold = 10\n"))
    bob.initialize()
    session, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    for each in (session, other):
        talk(bob, own_model, each, tokens=1000)
    run_command(bob, session, "/new")
    talk(bob, own_model, session)
    talk(bob, own_model, other)
    assert not any("automatic" in line for line in log_lines(bob, session))
    assert any("automatic" in line for line in log_lines(bob, other))


# -- turns like others


@pytest.mark.parametrize("command", ["/new", "/compact"])
def test_a_command_waits_for_the_running_turn(
    bob: Agent, model: ModelServer, tmp_path: Path, command: str
) -> None:
    """Turns are serialised: nothing of a command is seen before the answer of the turn before it."""
    session = bob.new_session(tmp_path)
    first = bob.prompt(session, "one")
    call = next_call(model)
    second = bob.prompt(session, command)
    third = bob.prompt(session, "three")
    call.text("half")
    bob.until(lambda message: "half" in str(message))
    bob.barrier()
    assert bob.answers(second) == []
    since = len(bob.messages)
    call.text("whole").finish()
    bob.answer(second)
    kinds = [
        message.get("id") or message["params"]["update"]["content"]["text"][:2]
        for message in bob.messages[since:]
    ]
    assert kinds == ["wh", first, {"/new": "🆕 ", "/compact": "🗜️"}[command], second]
    assert len(said(next_call(model).text("ok"))) == {"/new": 1, "/compact": 3}[command]
    model.hang_up()
    bob.answer(third)


@pytest.mark.parametrize("command", ["/new", "/compact"])
@pytest.mark.parametrize("how", ["session/cancel", "$/cancel_request"])
def test_a_command_that_waits_can_be_cancelled(
    bob: Agent, model: ModelServer, tmp_path: Path, command: str, how: str
) -> None:
    """It is answered `cancelled` at once, and has done nothing."""
    session, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    talk(bob, model, session, "one")
    running = bob.prompt(other, "slow")
    call = next_call(model)
    waiting = bob.prompt(session, command)
    params: dict[str, Any] = {"sessionId": session} if how == "session/cancel" else {"requestId": waiting}
    since = len(bob.messages)
    bob.notify(how, params)
    assert bob.answer(waiting)["result"] == {"stopReason": "cancelled"}
    assert bob.updates(session, since) == []
    call.text("ok").finish()
    bob.answer(running)
    assert len(said(talk(bob, model, session, "two"))) == 3
