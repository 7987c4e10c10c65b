"""Tool calls as an editor shows them: announced, permitted, run, reported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from raw_client import Agent, Message, is_alive, pid_in, wait_gone

REJECTED = "[command rejected by the user]"
OPTIONS = [("allow", "allow_once"), ("allow_always", "allow_always"), ("reject", "reject_once")]


def call_updates(bob: Agent, session: str, call_id: str | None = None) -> list[Message]:
    """The updates of tool calls, of one call or of all."""
    return [
        update
        for update in bob.updates(session)
        if update["sessionUpdate"] in {"tool_call", "tool_call_update"}
        and call_id in {None, update["toolCallId"]}
    ]


def one_call(
    bob: Agent, model: ModelServer, cwd: Path, name: str, arguments: object, answer: str = "allow"
) -> tuple[list[Message], Message, str]:
    """A turn with one call: its updates, its permission request, what the model was told."""
    session = bob.new_session(cwd)
    prompt = bob.prompt(session, "go")
    model.next().tool(name, arguments).finish("tool_calls")
    request = bob.permission()
    bob.choose(request, answer)
    call = model.next()
    told: str = call.messages[-1]["content"]
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    return call_updates(bob, session), request, told


CALLS: dict[str, tuple[str, dict[str, Any], str, str, list[str]]] = {
    "bash": ("bash", {"command": "echo hi"}, "bash: echo hi", "execute", []),
    "read_file": ("read_file", {"path": "a.txt"}, "read_file: a.txt", "read", ["a.txt"]),
    "write_file": ("write_file", {"path": "n.txt", "content": "x\n"}, "write_file: n.txt", "edit", ["n.txt"]),
    "edit_file": (
        "edit_file",
        {"path": "a.txt", "old_text": "one", "new_text": "two"},
        "edit_file: a.txt",
        "edit",
        ["a.txt"],
    ),
}


@pytest.mark.parametrize(("name", "arguments", "title", "kind", "files"), CALLS.values(), ids=CALLS)
def test_a_call_is_announced_asked_for_started_and_ended(
    bob: Agent,
    model: ModelServer,
    tmp_path: Path,
    name: str,
    arguments: dict[str, Any],
    title: str,
    kind: str,
    files: list[str],
) -> None:
    """The order of updates and their forms; the permission carries title, kind, rawInput and locations (B102, B107)."""
    (tmp_path / "a.txt").write_text("one\n")
    updates, request, told = one_call(bob, model, tmp_path, name, arguments)
    announced, started, ended = updates
    call_id = announced["toolCallId"]
    locations = [{"path": str(tmp_path / file)} for file in files]
    assert re.fullmatch(r"call_[1-9]\d*", call_id)
    assert announced == {
        "sessionUpdate": "tool_call",
        "toolCallId": call_id,
        "title": title,
        "name": name,
        "kind": kind,
        "status": "pending",
        "rawInput": arguments,
        **({"locations": locations} if files else {}),
    }
    assert started == {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress"}
    assert (ended["toolCallId"], ended["status"]) == (call_id, "completed")
    assert ended["rawOutput"] == {"output": told}
    # On the wire: announcement, question, answer, start.
    order = [line.message for line in bob.record if line.message]
    at = [order.index(request), *(order.index(_update_message(bob, one)) for one in updates)]
    assert at[1] < at[0] < at[2] < at[3]
    params = request["params"]
    assert params["sessionId"] == _update_message(bob, announced)["params"]["sessionId"]
    shown = {key: value for key, value in announced.items() if key != "sessionUpdate"}
    assert params["toolCall"] == shown
    assert [(one["optionId"], one["kind"]) for one in params["options"]] == OPTIONS
    assert all(one["name"] for one in params["options"])


def _update_message(bob: Agent, update: Message) -> Message:
    return next(
        message
        for message in reversed(bob.messages)
        if message.get("method") == "session/update" and message["params"]["update"] == update
    )


@pytest.mark.parametrize(
    ("name", "arguments", "old", "new"),
    [
        ("write_file", {"path": "new.txt", "content": "x\n"}, None, "x\n"),
        ("write_file", {"path": "a.txt", "content": "x\n"}, "one\n", "x\n"),
        ("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "two"}, "one\n", "two\n"),
    ],
)
def test_a_changed_file_is_shown_as_a_diff(
    bob: Agent,
    model: ModelServer,
    tmp_path: Path,
    name: str,
    arguments: dict[str, Any],
    old: str | None,
    new: str,
) -> None:
    """`content` is a diff for file changes, with an absolute path; a new file has no oldText (R-193)."""
    (tmp_path / "a.txt").write_text("one\n")
    updates, _, _ = one_call(bob, model, tmp_path, name, arguments)
    (diff,) = updates[-1]["content"]
    assert diff["type"] == "diff"
    assert diff["path"] == str(tmp_path / arguments["path"])
    assert (diff.get("oldText"), diff["newText"]) == (old, new)
    assert (tmp_path / arguments["path"]).read_text() == new


def test_other_output_is_shown_as_text(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """`content` is else a text block, and always rawOutput.output."""
    updates, _, told = one_call(bob, model, tmp_path, "bash", {"command": "echo out; echo err >&2"})
    assert updates[-1]["content"] == [{"type": "content", "content": {"type": "text", "text": "out\nerr\n"}}]
    assert updates[-1]["rawOutput"] == {"output": "out\nerr\n"}
    assert told == "out\nerr\n"


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("bash", {"command": "echo no; exit 3"}, "3"),
        ("bash", {"command": "no-such-command-here"}, "127"),
        ("bash", {"command": "kill -9 $$"}, "SIGKILL"),
        ("bash", {"command": "sleep 600", "timeout": 0.2}, "timeout"),
        ("read_file", {"path": "missing"}, "missing"),
        ("read_file", {"path": "."}, "directory"),
        ("edit_file", {"path": "a.txt", "old_text": "zzz", "new_text": "y"}, "old_text"),
        ("edit_file", {"path": "a.txt", "old_text": "o", "new_text": "y"}, "2"),
    ],
)
def test_a_failed_tool_is_reported_failed_and_the_turn_goes_on(
    bob: Agent, model: ModelServer, tmp_path: Path, name: str, arguments: dict[str, Any], word: str
) -> None:
    """B106: `failed` with a sentence the model can use."""
    (tmp_path / "a.txt").write_text("foo\n")
    updates, _, told = one_call(bob, model, tmp_path, name, arguments)
    assert updates[-1]["status"] == "failed"
    assert updates[-1]["rawOutput"] == {"output": told}
    assert word in told


# -- permissions


def test_allow_always_skips_the_dialog_for_that_tool_in_that_session(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """allow_always skips the dialog for that tool name for the rest of that session; no other tool or session."""
    (tmp_path / "a.txt").write_text("x")
    one, two = bob.new_session(tmp_path), bob.new_session(tmp_path)

    def work(session: str, name: str, arguments: object, *, asks: bool) -> None:
        seen = len(bob.messages)
        prompt = bob.prompt(session, "go")
        model.next().tool(name, arguments).finish("tool_calls")
        if asks:
            bob.choose(bob.permission(), "allow_always" if session == one and name == "bash" else "allow")
        model.next().finish()
        bob.answer(prompt)
        asked = [m for m in bob.messages[seen:] if m.get("method") == "session/request_permission"]
        assert len(asked) == asks
        statuses = [update["status"] for update in call_updates(bob, session)][-3:]
        assert statuses == ["pending", "in_progress", "completed"]

    work(one, "bash", {"command": "true"}, asks=True)
    work(one, "bash", {"command": "true"}, asks=False)
    work(one, "bash", {"command": "echo other"}, asks=False)
    work(one, "read_file", {"path": "a.txt"}, asks=True)
    work(one, "read_file", {"path": "a.txt"}, asks=True)
    work(two, "bash", {"command": "true"}, asks=True)
    work(two, "bash", {"command": "true"}, asks=True)
    work(one, "bash", {"command": "true"}, asks=False)


REFUSALS: dict[str, Callable[[Agent, Message], None]] = {
    "reject": lambda bob, request: bob.choose(request, "reject"),
    "outcome cancelled": lambda bob, request: bob.choose(request, "cancelled"),
    "an option that was not offered": lambda bob, request: bob.choose(request, "allow_once"),
    "an empty option": lambda bob, request: bob.choose(request, ""),
    "an error": lambda bob, request: bob.send(
        {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "no dialog"}}
    ),
    "request cancelled": lambda bob, request: bob.send(
        {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32800, "message": "x", "data": None}}
    ),
    "result null": lambda bob, request: bob.respond(request, None),
    "result {}": lambda bob, request: bob.respond(request, {}),
    "a bare option": lambda bob, request: bob.respond(request, {"optionId": "allow"}),
    "no option id": lambda bob, request: bob.respond(request, {"outcome": {"outcome": "selected"}}),
    "a misspelt outcome": lambda bob, request: bob.respond(
        request, {"outcome": {"outcome": "canceled", "optionId": "allow"}}
    ),
    "outcome as text": lambda bob, request: bob.respond(request, {"outcome": "allow"}),
    "an option id of a wrong type": lambda bob, request: bob.respond(
        request, {"outcome": {"outcome": "selected", "optionId": ["allow"]}}
    ),
    "cancelled with an option": lambda bob, request: bob.respond(
        request, {"outcome": {"outcome": "cancelled", "optionId": "allow"}}
    ),
    "neither result nor error": lambda bob, request: bob.send({"jsonrpc": "2.0", "id": request["id"]}),
    "result and error": lambda bob, request: bob.send(
        {
            "jsonrpc": "2.0",
            "id": request["id"],
            "result": {"outcome": {"outcome": "selected", "optionId": "allow"}},
            "error": None,
        }
    ),
    "no jsonrpc": lambda bob, request: bob.send(
        {"id": request["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}}
    ),
    "an error without message": lambda bob, request: bob.send(
        {"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1}}
    ),
    "an error that is a text": lambda bob, request: bob.send(
        {"jsonrpc": "2.0", "id": request["id"], "error": "no"}
    ),
}


@pytest.mark.parametrize("refuse", REFUSALS.values(), ids=REFUSALS)
def test_anything_but_a_clear_yes_is_a_rejection(
    bob: Agent, model: ModelServer, tmp_path: Path, refuse: Callable[[Agent, Message], None]
) -> None:
    """A refusal, a `cancelled` outcome, an error answer, an unknown option and a malformed answer count as rejection:
    the tool does not run, its call ends failed, the model receives the rejection (R-175, R-179), the turn goes on."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "touch ran"}).finish("tool_calls")
    refuse(bob, bob.permission())
    call = model.next()
    assert call.messages[-1]["content"] == REJECTED
    call.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    announced, ended = call_updates(bob, session)
    assert (announced["status"], ended["status"]) == ("pending", "failed")
    assert ended["rawOutput"] == {"output": REJECTED}
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "wrong_id", [lambda id_: str(id_), lambda id_: id_ + 1000, lambda id_: None, lambda id_: [id_]]
)
def test_an_answer_to_another_id_does_not_open_the_door(
    bob: Agent, model: ModelServer, tmp_path: Path, wrong_id: Callable[[int], object]
) -> None:
    """Responses to nobody are dropped: the id's value and JSON type count. The right answer still works."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "touch ran"}).finish("tool_calls")
    request = bob.permission()
    yes = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    bob.send({"jsonrpc": "2.0", "id": wrong_id(request["id"]), "result": yes})
    bob.barrier()
    assert not (tmp_path / "ran").exists()
    assert not model.is_asked()
    bob.choose(request, "reject")
    model.next().finish()
    bob.answer(prompt)
    assert not (tmp_path / "ran").exists()


def test_a_second_answer_changes_nothing(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Second response to the same id: dropped; a no does not become a yes."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "touch ran"}).finish("tool_calls")
    request = bob.permission()
    bob.choose(request, "reject")
    bob.choose(request, "allow")
    model.next().finish()
    bob.answer(prompt)
    assert not (tmp_path / "ran").exists()


def test_permission_ids_are_their_own_space(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Two directions are two id spaces: a client's request with the id of an open permission request is no answer."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go", id_="a prompt")
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    request = bob.permission()
    assert request["id"] != prompt, "the prompt's id is open"
    bob.request("authenticate", {"methodId": "x"}, id_=request["id"])
    answer = bob.until(lambda message: message.get("id") == request["id"] and "method" not in message)
    assert answer["result"] == {}
    assert not model.is_asked()
    bob.choose(request)
    model.next().finish()
    bob.answer(prompt)


def test_call_ids_are_numbered_for_the_whole_process(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Ids call_1, call_2, ... numbered per process, never reset: not by a new session, not by a failed call (B104)."""
    bob = start()
    bob.initialize()
    sessions = [bob.new_session(tmp_path) for _ in range(3)]
    ids = []
    for session, text in [(0, "run true"), (1, "run true"), (0, "read missing"), (2, "run false")]:
        bob.turn(sessions[session], text)
        (call,) = {one["toolCallId"] for one in call_updates(bob, sessions[session])} - set(ids)
        ids.append(call)
    assert ids == ["call_1", "call_2", "call_3", "call_4"]
    assert bob.end() == 0
    bob.assert_clean()


# -- what a tool can't do to the wire


@pytest.mark.parametrize(
    "command",
    [
        "echo polluted > /dev/stdout",
        "echo polluted > /dev/stderr",
        "echo polluted > /dev/fd/1",
        "echo polluted > /proc/$PPID/fd/1",
        "echo polluted > /proc/$PPID/fd/2",
        'printf \'{"jsonrpc":"2.0","id":1,"result":{}}\\n\'',
        "printf '\\n\\n\\r\\x00\\xff\\xfe'",
        "for fd in 3 4 5 6 7 8 9 10 11 12; do echo polluted >&$fd; done 2>/dev/null",
        "echo polluted > /dev/tty",
    ],
)
def test_no_command_can_write_to_the_wire(
    bob: Agent, model: ModelServer, tmp_path: Path, command: str
) -> None:
    """Every stdout byte is protocol, whatever a child does (B132): the raw client would not read anything else."""
    one_call(bob, model, tmp_path, "bash", {"command": command})
    bob.barrier()


@pytest.mark.parametrize(
    "command", ["cat", "read x; echo $?", "python3 -c 'input()'", 'echo "a <b" && cat', "cat <&0"]
)
def test_no_command_can_eat_from_the_wire(
    bob: Agent, model: ModelServer, tmp_path: Path, command: str
) -> None:
    """B301, B302: a command that asks for input gets end of file; a prompt sent meanwhile arrives whole."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": command}).finish("tool_calls")
    bob.choose(bob.permission())
    waiting = bob.prompt(session, "x" * 100_000)
    model.next().finish()
    call = model.next()
    assert call.messages[-1]["content"] == "x" * 100_000
    call.finish()
    bob.answer(prompt)
    bob.answer(waiting)


def test_a_background_child_lives_through_the_turn_and_no_longer(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """B304: it neither blocks the result nor outlives the turn; one that was detached on purpose does."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    start = (
        "sleep 600 & echo $! > pid\n"
        "setsid bash -c 'echo $$ > detached; exec sleep 600' >/dev/null 2>&1 &\n"
        "echo done"
    )
    model.next().tool("bash", {"command": start}).finish("tool_calls")
    bob.choose(bob.permission(), "allow_always")
    call = model.next()
    assert call.messages[-1]["content"].startswith("done\n")
    pid = pid_in(tmp_path / "pid")
    call.tool("bash", {"command": "kill -0 $(cat pid) && echo alive"}).finish("tool_calls")
    call = model.next()
    assert "alive" in call.messages[-1]["content"]
    call.finish()
    bob.answer(prompt)
    wait_gone(pid)
    detached = pid_in(tmp_path / "detached")
    assert is_alive(detached)
    os.kill(detached, 9)


def test_a_command_inherits_no_descriptor(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Children never inherit the protocol's descriptors: 0 is /dev/null, 1 and 2 are one pipe, and ls has opened 3."""
    _, _, told = one_call(bob, model, tmp_path, "bash", {"command": "ls -l /proc/self/fd; ls -l /proc/$$/fd"})
    found = re.findall(r"(\d+) -> (\S+)", told)
    own = Path(f"/proc/{bob.process.pid}/fd")
    mine = {str(one.readlink()) for one in own.iterdir() if int(one.name) > 2}
    assert {target for number, target in found if number == "0"} == {"/dev/null"}
    assert {number for number, _ in found} <= {"0", "1", "2", "3", "255"}
    assert not {target for _, target in found if "pipe:" in target or "socket:" in target} & mine


def test_a_command_runs_in_the_directory_of_its_session(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """R-076, R-077: `bash -c` in the session's cwd, wherever the agent was started; relative paths begin there."""
    place = tmp_path / "a dir with 'quotes' and é"
    place.mkdir()
    _, _, told = one_call(bob, model, place, "bash", {"command": "pwd"})
    assert told == f"{place}\n"
    one_call(bob, model, place, "write_file", {"path": "sub/file", "content": "x"})
    assert (place / "sub" / "file").read_text() == "x"


def test_secrets_are_not_passed_on_to_commands(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Secrets are never logged and not passed on to tools' environments."""
    text = f'[model]\nprovider = "openai"\nbaseUrl = "{own_model.url}"\nname = "m"\napiKeyEnv = "MY_KEY"\n'
    environ = {"PATH": "/usr/bin:/bin", "MY_KEY": "sk-secret-value", "OTHER": "kept"}
    bob = start(text, environ={**environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    bob.initialize()
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    call = own_model.next()
    assert "Bearer sk-secret-value" in call.head
    call.tool("bash", {"command": "env; cat /proc/self/environ"}).finish("tool_calls")
    bob.choose(bob.permission())
    call = own_model.next()
    assert "sk-secret-value" not in call.messages[-1]["content"]
    assert "OTHER=kept" in call.messages[-1]["content"]
    call.refuse("401 Unauthorized", {"error": {"message": "the key sk-secret-value is wrong"}})
    assert "sk-secret-value" not in str(bob.answer(prompt))
    assert bob.end() == 0
    assert "sk-secret-value" not in bob.stderr_text()
