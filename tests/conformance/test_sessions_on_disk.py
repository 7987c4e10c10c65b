"""Sessions that outlive their process: written when, loaded how, and what happens if the disk or the file is bad."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kept_sessions import (
    SESSIONS,
    directory,
    ids_on_disk,
    load,
    log_line,
    log_lines,
    model_config,
    next_call,
    run_command,
    said,
    stored,
    stored_texts,
    talk,
    work,
    write_skill,
)
from model_server import ModelServer
from raw_client import Agent, Message

from acp_agent.protocol.connection import Connection, Role

REJECTED = "[command rejected by the user]"


@pytest.fixture
def begin(start: Callable[..., Agent], own_model: ModelServer) -> Callable[..., Agent]:
    """Starts an initialised agent that keeps sessions; all of a test ask the same model server."""

    def begin(settings: str = SESSIONS, **how: object) -> Agent:
        bob = start(model_config(own_model, settings), **how)
        assert bob.judge is not None
        # What Bob chose where the protocol leaves it open: an idle session may be loaded again.
        bob.judge.connection = Connection(
            Role.OBSERVER, bob.judge.connection.conversation.policy._replace(reload_open_session=True)
        )
        bob.initialize()
        return bob

    return begin


@pytest.fixture
def keeping(begin: Callable[..., Agent]) -> Iterator[Agent]:
    """An agent that keeps sessions."""
    bob = begin()
    yield bob
    bob.assert_clean()


# -- enabled and not


def test_disabled_nothing_is_written_and_nothing_can_be_loaded(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """`loadSession: false`, -32601, and the directory stays empty."""
    (answer,) = [line.message for line in bob.record if '"agentCapabilities"' in str(line.raw)]
    assert answer is not None
    assert answer["result"]["agentCapabilities"]["loadSession"] is False
    session = bob.new_session(tmp_path)
    talk(bob, model, session)
    run_command(bob, session, "/new")
    assert list(tmp_path.iterdir()) == []
    assert load(bob, session, tmp_path)["error"]["code"] == -32601


def test_enabled_it_is_advertised(start: Callable[..., Agent]) -> None:
    """`loadSession: true`."""
    assert start(SESSIONS).initialize()["agentCapabilities"]["loadSession"] is True


def test_a_session_is_on_disk_before_its_id_is_known(keeping: Agent, tmp_path: Path) -> None:
    """Written at once by session/new: mode 0600, in directories for the user alone, valid by the bundled schema."""
    session = keeping.new_session(tmp_path)
    path = directory(tmp_path) / f"{session}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory(tmp_path).stat().st_mode) == 0o700
    document = stored(tmp_path, session)
    assert document["version"] == 1
    assert document["cwd"] == str(tmp_path)
    assert [one["role"] for one in document["messages"]] == ["system"]


def test_another_directory_can_be_chosen(begin: Callable[..., Agent], tmp_path: Path) -> None:
    """`[sessions] dir`, below the cwd or absolute."""
    (tmp_path / "work").mkdir()
    for name, place in (
        ("kept/here", tmp_path / "work" / "kept" / "here"),
        (f"{tmp_path}/all", tmp_path / "all"),
    ):
        bob = begin(f'[sessions]\nenabled = true\ndir = "{name}"\n')
        session = bob.new_session(tmp_path / "work")
        assert (place / f"{session}.json").exists()
        assert load(bob, session, tmp_path / "work")["result"] == {}
        log_line(bob, f"session {session} loaded from {place}: 0 message(s) replayed")


def test_every_turn_is_on_disk_when_it_is_answered(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """However it ends: done, cancelled, failed; and nothing is left beside the file."""
    session = keeping.new_session(tmp_path)
    talk(keeping, own_model, session, "one", "two")
    assert stored_texts(tmp_path, session) == [("user", "one"), ("assistant", "two")]
    prompt = keeping.prompt(session, "three")
    next_call(own_model).text("half").chunk({"content": " of it"})
    keeping.until(lambda message: " of it" in str(message))
    keeping.cancel(session)
    keeping.answer(prompt)
    assert stored_texts(tmp_path, session)[2:] == [("user", "three"), ("assistant", "half of it")]
    prompt = keeping.prompt(session, "four")
    call = next_call(own_model).tool("bash", {"command": "exit 3"})
    call.finish("tool_calls")
    keeping.choose(keeping.permission())
    next_call(own_model).refuse("500 Oops", {"error": "no"})
    assert "error" in keeping.answer(prompt)
    messages = stored(tmp_path, session)["messages"]
    assert [one["role"] for one in messages[5:]] == ["user", "assistant", "tool"]
    assert messages[-1]["failed"] is True
    assert {path.name for path in directory(tmp_path).iterdir()} == {
        f"{session}.json",
        f"{session}.lock",
        ".gitignore",
    }


# -- /new


def test_new_keeps_the_conversation_under_another_id(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """First the old one apart, which the log names, then the session's own file; the old one can be loaded."""
    session = keeping.new_session(tmp_path)
    talk(keeping, own_model, session, "old", "talk")
    assert run_command(keeping, session, "/new") == "🆕 New session: 2 message(s) forgotten."
    (kept,) = ids_on_disk(tmp_path) - {session}
    lines = log_lines(keeping, session)
    at = lines.index(f"previous conversation kept as {kept}")
    assert lines[at + 1] == "new session, 2 message(s) forgotten"
    assert stored_texts(tmp_path, kept) == [("user", "old"), ("assistant", "talk")]
    assert stored_texts(tmp_path, session) == []
    since = len(keeping.messages)
    assert load(keeping, kept, tmp_path)["result"] == {}
    assert [one["content"]["text"] for one in keeping.updates(kept, since)] == ["old", "talk"]
    # Both go on, each with its own.
    assert [text for _, text in said(talk(keeping, own_model, session, "fresh"))] == ["fresh"]
    assert [text for _, text in said(talk(keeping, own_model, kept, "on"))] == ["old", "talk", "on"]


def test_new_keeps_nothing_of_an_empty_conversation(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """No file and no line in the log; twice in a row likewise."""
    session = keeping.new_session(tmp_path)
    run_command(keeping, session, "/new")
    assert ids_on_disk(tmp_path) == {session}
    talk(keeping, own_model, session)
    run_command(keeping, session, "/new")
    run_command(keeping, session, "/new")
    assert len(ids_on_disk(tmp_path)) == 2
    assert sum("kept as" in line for line in log_lines(keeping, session)) == 1


def test_new_forgets_nothing_that_it_cannot_keep(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Without room for the copy the only one on disk stays as it is, and so does the conversation."""
    tmp_path.chmod(0o777)
    keeping = begin(SESSIONS, preexec_fn=without_privilege)
    session = keeping.new_session(tmp_path)
    talk(keeping, own_model, session, "old", "talk")
    before = (directory(tmp_path) / f"{session}.json").read_bytes()
    directory(tmp_path).chmod(0o555)
    said_instead = run_command(keeping, session, "/new")
    assert said_instead.startswith("[new: failed, history kept: session ")
    assert any(line.startswith("warning: ") for line in log_lines(keeping, session))
    assert (directory(tmp_path) / f"{session}.json").read_bytes() == before
    directory(tmp_path).chmod(0o755)
    assert [text for _, text in said(talk(keeping, own_model, session, "on"))] == ["old", "talk", "on"]
    assert run_command(keeping, session, "/new") == "🆕 New session: 4 message(s) forgotten."


# -- loading


def replayed(agent: Agent, session: str, since: int) -> list[Message]:
    """The updates between a load and its answer: all but the last, which has to be the commands."""
    *updates, commands = [
        message["params"]["update"]
        for message in agent.messages[since:]
        if message.get("method") == "session/update"
    ]
    assert commands["sessionUpdate"] == "available_commands_update"
    assert agent.messages[-1]["result"] == {}
    assert all(
        message["params"]["sessionId"] == session for message in agent.messages[since:] if "params" in message
    )
    return updates


def chunk(kind: str, text: str) -> Message:
    return {"sessionUpdate": f"{kind}_message_chunk", "content": {"type": "text", "text": text}}


def test_a_conversation_comes_back_in_another_process(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Replay in order, then the commands, then `{}`; one update for each thing said or done; nothing runs again; the
    model then gets the same conversation with the current instructions."""
    write_skill(tmp_path / "skills" / "greetings")
    first = begin()
    session = first.new_session(tmp_path)
    (tmp_path / "a.txt").write_text("one\n")
    prompt = first.prompt(session, "go")
    call = next_call(own_model).text("I work.")
    call.tool("bash", {"command": "echo out; echo once >> ran"}, "m1", 0)
    call.tool("read_file", {"path": "a.txt"}, "m2", 1)
    call.tool("bash", {"command": "exit 3"}, "m3", 2)
    call.tool("nonsense", {"x": 1}, "m4", 3)
    call.tool("read_skill", {"name": "greetings"}, "m5", 4)
    call.tool("bash", {"command": "echo no"}, "m6", 5)
    call.finish("tool_calls")
    for option in ("allow", "allow", "allow", "reject"):
        first.choose(first.permission(), option)
    live_results = next_call(own_model)
    live_results.text("Done.").finish()
    first.answer(prompt)
    live = first.updates(session)
    assert first.end() == 0

    write_skill(tmp_path / "skills" / "another")
    second = begin()
    since = len(second.messages)
    assert load(second, session, tmp_path)["result"] == {}
    updates = replayed(second, session, since)
    announced = [one for one in live if one["sessionUpdate"] == "tool_call"]
    ended = [one for one in live if one.get("status") in {"completed", "failed"}]
    outputs = [one["content"] for one in live_results.messages if one["role"] == "tool"]
    assert [one["status"] for one in ended] == [
        "completed",
        "completed",
        "failed",
        "failed",
        "completed",
        "failed",
    ]
    expected: list[Message] = [chunk("user", "go"), chunk("agent", "I work.")]
    for number, (call_made, end, output) in enumerate(zip(announced, ended, outputs, strict=True), 1):
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        expected.append(
            call_made
            | {"toolCallId": f"m{number}", "status": end["status"]}
            | {"rawOutput": {"output": output}, "content": content}
        )
    assert updates == [*expected, chunk("agent", "Done.")]
    assert [one["title"] for one in updates[2:8]] == [
        "bash: echo out; echo once >> ran",
        "read_file: a.txt",
        "bash: exit 3",
        "nonsense",
        "read_skill: greetings",
        "bash: echo no",
    ]
    assert outputs[5] == REJECTED
    log_line(second, f"session {session} loaded from {directory(tmp_path)}: 9 message(s) replayed")
    assert (tmp_path / "ran").read_text() == "once\n"
    assert not own_model.is_asked()
    after = talk(second, own_model, session, "more")
    assert after.messages[1:-1] == [*live_results.messages[1:], {"role": "assistant", "content": "Done."}]
    assert "another" in after.messages[0]["content"]
    assert "another" not in live_results.messages[0]["content"]
    second.assert_clean()


def test_what_was_always_allowed_is_asked_again(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """An empty allow-always set, in another process and when an open session is loaded again."""
    bob = begin()
    session = bob.new_session(tmp_path)
    work(bob, own_model, session, "bash", {"command": "true"}, "t1", permit="allow_always")
    work(bob, own_model, session, "bash", {"command": "true"}, "t2")
    assert load(bob, session, tmp_path)["result"] == {}
    work(bob, own_model, session, "bash", {"command": "true"}, "t3", permit="allow_always")
    bob.end()
    again = begin()
    load(again, session, tmp_path)
    work(again, own_model, session, "bash", {"command": "true"}, "t4", permit="allow")


def written(cwd: Path, session: str, messages: list[Message], **members: object) -> Path:
    """A session file made by hand."""
    directory(cwd).mkdir(parents=True, exist_ok=True)
    path = directory(cwd) / f"{session}.json"
    moment = "2026-08-22T09:30:00Z"
    document = {"version": 1, "id": session, "cwd": str(cwd), "created": moment, "updated": moment}
    path.write_text(json.dumps(document | {"messages": messages} | members))
    return path


ID = "20260822-093000-0123abcd"
SYSTEM: Message = {"role": "system", "content": "what was said to models then"}


def a_call(id_: str, command: str = "true") -> Message:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": id_, "type": "function", "function": function}


def test_every_kind_of_stored_message_is_shown(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Summary, a call without a recorded result, equal and empty ids; the model then gets a valid history."""
    messages: list[Message] = [
        SYSTEM,
        {"role": "user", "content": "what came before", "summary": True},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [a_call("x"), a_call("call_1"), a_call("")]},
        {"role": "tool", "tool_call_id": "x", "content": "out"},
        {"role": "tool", "tool_call_id": "", "content": "", "failed": True},
        {"role": "assistant", "content": "a", "tool_calls": [a_call("x", "false")]},
    ]
    written(tmp_path, ID, messages)
    since = len(keeping.messages)
    assert load(keeping, ID, tmp_path)["result"] == {}
    updates = replayed(keeping, ID, since)
    texts = [one["content"]["text"] for one in updates if one["sessionUpdate"] != "tool_call"]
    assert texts == ["🗜️ what came before", "q", "a"]
    assert updates[0]["sessionUpdate"] == "agent_message_chunk"
    calls = [one for one in updates if one["sessionUpdate"] == "tool_call"]
    assert [(one["status"], one.get("rawOutput"), "content" in one) for one in calls] == [
        ("completed", {"output": "out"}, True),
        ("failed", None, False),
        ("failed", {"output": ""}, True),
        ("failed", None, False),
    ]
    ids = [one["toolCallId"] for one in calls]
    assert ids[:2] == ["x", "call_1"]
    assert all(ids)
    assert len(set(ids)) == 4
    log_line(keeping, f"session {ID} loaded from {directory(tmp_path)}: 6 message(s) replayed")
    # Live ids never collide with replayed ones in that session.
    work(keeping, own_model, ID, "bash", {"command": "true"}, permit="allow")
    live = [
        one["toolCallId"]
        for one in keeping.updates(ID, since)[len(updates) :]
        if one["sessionUpdate"] == "tool_call"
    ]
    assert live
    assert not set(live) & set(ids)


def test_a_skill_that_is_gone_is_shown_as_it_was(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Title, kind and input of a call are as they were live, though the session has no skills any more."""
    write_skill(tmp_path / "skills" / "greetings")
    session = keeping.new_session(tmp_path)
    work(keeping, own_model, session, "read_skill", {"name": "greetings"})
    live = next(one for one in keeping.updates(session) if one["sessionUpdate"] == "tool_call")
    shutil.rmtree(tmp_path / "skills")
    since = len(keeping.messages)
    assert load(keeping, session, tmp_path)["result"] == {}
    shown = next(one for one in replayed(keeping, session, since) if one["sessionUpdate"] == "tool_call")
    for member in ("title", "kind", "rawInput", "name"):
        assert shown[member] == live[member]
    assert "read_skill" not in str(talk(keeping, own_model, session).body["tools"])


def test_when_a_session_was_created_survives_its_loading(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Loaded in another process and saved again, it is as old as before."""
    first = begin()
    session = first.new_session(tmp_path)
    talk(first, own_model, session)
    first.end()
    before = stored(tmp_path, session)
    again = begin()
    load(again, session, tmp_path)
    talk(again, own_model, session)
    after = stored(tmp_path, session)
    assert after["created"] == before["created"]
    assert after["updated"] > before["updated"]


def test_the_last_of_several_loads_counts(keeping: Agent, own_model: ModelServer, tmp_path: Path) -> None:
    """A session that is open is read from disk again: here, what somebody else has put there."""
    session = keeping.new_session(tmp_path)
    talk(keeping, own_model, session, "one", "two")
    written(
        tmp_path,
        session,
        [SYSTEM, {"role": "user", "content": "by hand"}, {"role": "assistant", "content": "x"}],
    )
    for _ in range(2):
        since = len(keeping.messages)
        assert load(keeping, session, tmp_path)["result"] == {}
        assert replayed(keeping, session, since) == [chunk("user", "by hand"), chunk("agent", "x")]
    assert [text for _, text in said(talk(keeping, own_model, session, "on"))] == ["by hand", "x", "on"]
    assert stored_texts(tmp_path, session)[0] == ("user", "by hand")


def test_ids_of_an_open_session_stay_with_their_calls_when_it_is_loaded_again(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Here the model gives its calls ids that were ours for other calls, the hardest case: neither the replay nor
    what is live after it uses an id of another call."""
    bob = keeping
    session = bob.new_session(tmp_path)
    begun: dict[str, str] = {}

    def live(command: str, given: str) -> str:
        since = len(bob.messages)
        work(bob, own_model, session, "bash", {"command": command}, given, permit="allow")
        (id_,) = {one["toolCallId"] for one in bob.updates(session, since) if "toolCallId" in one}
        assert begun.setdefault(id_, command) == command
        return id_

    first = live("echo 1", "x")
    live("echo 2", first)
    for number in range(3, 6):
        since = len(bob.messages)
        assert load(bob, session, tmp_path)["result"] == {}
        for update in bob.updates(session, since):
            if update["sessionUpdate"] == "tool_call":
                command = update["rawInput"]["command"]
                assert begun.setdefault(update["toolCallId"], command) == command
        following = f"call_{int(first.removeprefix('call_')) + number}"
        live(f"echo {number}", following)


def test_the_count_of_tokens_survives_the_loading_of_an_open_session(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """A conversation that was due to be compressed is compressed by the next prompt, loaded again or not."""
    bob = begin(f"{SESSIONS}[context]\nthreshold = 100\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talk(bob, own_model, session, "q1", tokens=5)
    talk(bob, own_model, session, "q2", tokens=1000)
    assert load(bob, session, tmp_path)["result"] == {}
    prompt = bob.prompt(session, "q3")
    next_call(own_model).text("short").finish()
    call = next_call(own_model)
    assert said(call) == [("user", "short"), ("user", "q2"), ("assistant", "answer"), ("user", "q3")]
    call.text("a3").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_a_turn_that_a_full_disk_refused_is_on_disk_after_the_end(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Nothing was saved when it was answered; the disk has room again when the client goes."""
    bob = begin()
    session = bob.new_session(tmp_path)
    in_the_way = directory(tmp_path) / f"{session}.json.tmp"
    in_the_way.mkdir()
    talk(bob, own_model, session, "question", "answer")
    assert stored_texts(tmp_path, session) == []
    assert "cannot be saved" in log_lines(bob, session)[-1]
    in_the_way.rmdir()
    assert bob.end() == 0
    assert stored_texts(tmp_path, session) == [("user", "question"), ("assistant", "answer")]


@pytest.mark.parametrize("what", ["a running turn", "a waiting turn"])
def test_a_session_with_an_open_turn_is_not_loaded(
    keeping: Agent, own_model: ModelServer, tmp_path: Path, what: str
) -> None:
    """-32600, nothing is replayed, and the turn goes on as if nothing had been asked."""
    session, other = keeping.new_session(tmp_path), keeping.new_session(tmp_path)
    first = keeping.prompt(session if what == "a running turn" else other, "one")
    second = keeping.prompt(session, "two")
    call = next_call(own_model)
    since = len(keeping.messages)
    error = load(keeping, session, tmp_path)["error"]
    assert error["code"] == -32600
    assert keeping.updates(session, since) == []
    call.text("a").finish()
    next_call(own_model).text("b").finish()
    for prompt in (first, second):
        assert keeping.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert stored_texts(tmp_path, session)[-1] == ("assistant", "b")
    assert load(keeping, session, tmp_path)["result"] == {}


# -- what can't be loaded

VALID: list[Message] = [SYSTEM, {"role": "user", "content": "secret of the file"}]
BAD_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "damaged"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-20]), "damaged"),
    "no JSON": (lambda path: path.write_bytes(b"hello"), "damaged"),
    "no UTF-8": (lambda path: path.write_bytes(b'{"\xff": 1}'), "damaged"),
    "an array": (lambda path: path.write_bytes(b"[]"), "damaged"),
    "nesting": (lambda path: path.write_bytes(b"[" * 100_000), "damaged"),
    "a member too many": (lambda path: changed(path, more=1), "damaged"),
    "a role that is none": (lambda path: changed(path, messages=[{"role": "x", "content": ""}]), "damaged"),
    "a text that is none": (lambda path: changed(path, messages=[{"role": "user", "content": 1}]), "damaged"),
    "another session": (lambda path: changed(path, id="20260822-093000-ffffffff"), "holds session"),
    "a newer format": (lambda path: changed(path, version=2), "newer"),
    "a format of long ago": (lambda path: changed(path, version=0), "damaged"),
    "a directory": (lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
    "a link": (lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")), "symbolic link"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "not a regular file"),
    "nothing": (lambda path: path.unlink(), "there is no session"),
}


def changed(path: Path, **members: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | members))


def assert_not_loaded(bob: Agent, session: str, cwd: Path, why: str) -> None:
    since = len(bob.messages)
    error = load(bob, session, cwd)["error"]
    assert error["code"] == -32602
    assert error["data"]["sessionId"] == session
    assert why in error["data"]["error"]
    assert "\n" not in error["data"]["error"]
    assert len(bob.messages) == since + 1, "something was replayed"


@pytest.mark.parametrize(("spoil", "why"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_an_error_that_says_why(
    shared: Agent, tmp_path: Path, spoil: Callable[[Path], Any], why: str
) -> None:
    """-32602 with `data.sessionId` and `data.error`; nothing is replayed; the session is unknown, the agent goes on."""
    path = written(tmp_path, ID, VALID)
    spoil(path)
    assert_not_loaded(shared, ID, tmp_path, why)
    answer = shared.turn(ID, "hi")
    assert answer["error"]["code"] == -32602
    shared.new_session(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """An agent that keeps sessions and is asked for those that can't be loaded."""
    place = tmp_path_factory.mktemp("shared")
    config = place / "bob.toml"
    config.write_text(SESSIONS)
    bob = Agent(config, stderr=place / "stderr")
    bob.initialize()
    yield bob
    bob.assert_clean()
    bob.kill()


TRICKS = [
    *(
        "",
        ".",
        "..",
        "../../x",
        f"../{ID}",
        f"{ID}/../{ID}",
        f"/{ID}",
        f"{ID}.json",
        f"{ID}\n",
        f" {ID}",
        f"{ID}\0",
    ),
    *(
        ID.upper(),
        ID[:-1],
        f"{ID}0",
        "x" * 100_000,
        "é" * 20,
        "%2e%2e%2f",
        "\u202e",
        "~/x",
        "/etc/passwd",
        "\ud800",
    ),
    "２０２６０８２２-093000-0123abcd",
]


@pytest.mark.parametrize("id_", TRICKS, ids=lambda id_: ascii(id_[:20]))
def test_an_id_of_another_form_leads_nowhere(shared: Agent, tmp_path: Path, id_: str) -> None:
    """Path tricks included: -32602 with the id and why."""
    written(tmp_path, ID, VALID)
    since = len(shared.messages)
    error = load(shared, id_, tmp_path)["error"]
    assert error["code"] == -32602
    if id_ != "\ud800":  # half a character comes back as what stands for it
        assert error["data"]["sessionId"] == id_
    assert "is not a session id" in error["data"]["error"]
    assert len(error["data"]["error"]) < 300
    assert len(shared.messages) == since + 1


def test_a_session_of_another_directory_is_not_there(shared: Agent, tmp_path: Path) -> None:
    """Sessions belong to their cwd; nothing is made on disk for one that is not there."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    written(tmp_path / "a", ID, VALID)
    assert_not_loaded(shared, ID, tmp_path / "b", "there is no session")
    assert list((tmp_path / "b").iterdir()) == []


def test_an_open_session_survives_a_load_that_fails(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """The file was damaged meanwhile: the error says so, the conversation goes on and repairs it."""
    session = keeping.new_session(tmp_path)
    talk(keeping, own_model, session, "one", "two")
    (directory(tmp_path) / f"{session}.json").write_text("damaged")
    assert_not_loaded(keeping, session, tmp_path, "damaged")
    assert [text for _, text in said(talk(keeping, own_model, session, "on"))] == ["one", "two", "on"]
    assert len(stored_texts(tmp_path, session)) == 4


def test_a_directory_may_be_spelled_otherwise_when_a_session_is_loaded(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Through a link, as editors on some systems do: it is the open session, not one of another process."""
    (tmp_path / "cwd").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "cwd")
    session = keeping.new_session(tmp_path / "cwd")
    talk(keeping, own_model, session, "one")
    assert load(keeping, session, tmp_path / "link")["result"] == {}
    talk(keeping, own_model, session, "two")
    assert len(stored_texts(tmp_path / "cwd", session)) == 4
    assert stored(tmp_path / "cwd", session)["cwd"] == str(tmp_path / "link")


# -- two processes


def test_a_session_is_open_in_one_process_at_a_time(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """The second gets a clear error and changes nothing; when the first is gone, however it went, it may."""
    first, second = begin(), begin()
    session = first.new_session(tmp_path)
    talk(first, own_model, session, "one", "two")
    assert_not_loaded(second, session, tmp_path, f"is open in another process (pid {first.process.pid})")
    talk(first, own_model, session, "three", "four")
    first.kill()
    assert load(second, session, tmp_path)["result"] == {}
    assert [text for _, text in said(talk(second, own_model, session, "five"))] == [
        *("one", "two", "three", "four", "five"),
    ]
    third = begin()
    assert_not_loaded(third, session, tmp_path, "is open in another process")
    second.end()
    assert load(third, session, tmp_path)["result"] == {}


# -- bad disks


def without_privilege() -> None:
    """In a child before it starts: a directory's mode binds root too, once CAP_DAC_OVERRIDE is dropped for good."""
    ctypes.CDLL(None).prctl(24, 1)  # PR_CAPBSET_DROP


def of_small_files() -> None:
    """In a child before it starts: no file may grow beyond 2 KiB, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


BAD_DISKS: dict[str, tuple[Callable[[Path], Any], dict[str, Any], str]] = {
    "read-only": (lambda cwd: cwd.chmod(0o555), {"preexec_fn": without_privilege}, "Permission denied"),
    "a file in the way": (lambda cwd: (cwd / ".acp-agent").write_text("x"), {}, ""),
    "full": (lambda cwd: None, {"preexec_fn": of_small_files}, "File too large"),
}


@pytest.mark.parametrize(("spoil", "how", "why"), BAD_DISKS.values(), ids=BAD_DISKS)
def test_a_bad_disk_is_a_warning_and_the_turn_answers(
    begin: Callable[..., Agent],
    own_model: ModelServer,
    tmp_path: Path,
    spoil: Callable[[Path], Any],
    how: dict[str, Any],
    why: str,
) -> None:
    """On standard error; prompts and the end are as always, and nothing half is left. /new too, unless there is
    something on disk that it would put an empty conversation in the place of."""
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    spoil(cwd)
    # Standard error is a file too: through a pipe the limit on files does not concern it.
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    bob = begin(SESSIONS, stderr=writer, **how)
    os.close(writer)
    session = bob.new_session(cwd)
    assert len(said(talk(bob, own_model, session, "one", "x" * 4000))) == 1
    assert len(said(talk(bob, own_model, session, "two"))) == 3
    forgets = not ids_on_disk(cwd)
    told = run_command(bob, session, "/new")
    assert told.startswith(
        "🆕 New session: 4 message(s) forgotten." if forgets else "[new: failed, history kept: "
    )
    assert len(said(talk(bob, own_model, session, "y" * 4000))) == (1 if forgets else 5)
    assert bob.end() == 0
    log = os.read(reader, 1 << 20).decode()
    os.close(reader)
    warnings = [line for line in log.splitlines() if f"[acp] session {session}: warning: " in line]
    assert len(warnings) >= 4
    assert all(why in line for line in warnings)
    cwd.chmod(0o755)
    assert not list(cwd.rglob("*.tmp"))
    for path in cwd.rglob("*.json"):
        json.loads(path.read_bytes())


def test_more_sessions_than_files_may_be_open_all_answer(
    begin: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """A small limit on open files: the sessions above it are not kept, with a warning, and the agent works on."""
    bob = begin(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (96, 96)))
    sessions = [bob.new_session(tmp_path) for _ in range(80)]
    assert 20 < len(ids_on_disk(tmp_path)) < 80
    for session in (sessions[0], sessions[-1]):
        talk(bob, own_model, session)
        work(bob, own_model, session, "bash", {"command": "echo hi"}, permit="allow")
    assert len(stored_texts(tmp_path, sessions[0])) == 6
    warning = (
        f"session {sessions[-1]}: warning: session {sessions[-1]} cannot be saved in {directory(tmp_path)}: "
    )
    log_line(bob, f"{warning}too many sessions are open for the limit on open files")
    assert bob.end() == 0


def test_a_disk_that_comes_back_gets_the_whole_conversation(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Each save is all of it: what could not be written before is there as soon as one can."""
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    in_the_way = cwd / ".acp-agent"
    in_the_way.write_text("x")
    session = keeping.new_session(cwd)
    talk(keeping, own_model, session, "one")
    in_the_way.unlink()
    talk(keeping, own_model, session, "two")
    assert [text for _, text in stored_texts(cwd, session)] == ["one", "answer", "two", "answer"]


def test_a_directory_that_was_removed_is_made_again(
    keeping: Agent, own_model: ModelServer, tmp_path: Path
) -> None:
    """Somebody cleans up while the session is open: the next turn is on disk again."""
    session = keeping.new_session(tmp_path)
    for path in directory(tmp_path).iterdir():
        path.unlink()
    directory(tmp_path).rmdir()
    talk(keeping, own_model, session, "one")
    assert len(stored_texts(tmp_path, session)) == 2


# -- clients that are slow or gone


def test_prompts_wait_for_nobody_elses_load(keeping: Agent, own_model: ModelServer, tmp_path: Path) -> None:
    """A session that is being loaded takes no prompt and no second load; another session goes on meanwhile."""
    written(tmp_path, ID, [SYSTEM, *({"role": "user", "content": "x" * 10_000} for _ in range(2000))])
    other = keeping.new_session(tmp_path)
    params = {"sessionId": ID, "cwd": str(tmp_path), "mcpServers": []}
    first = keeping.request("session/load", params, while_reading=False)
    second = keeping.request("session/load", params, while_reading=False)
    early = keeping.prompt(ID, "too early", while_reading=False)
    prompt = keeping.prompt(other, "meanwhile", while_reading=False)
    next_call(own_model).text("ok").finish()
    assert keeping.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert keeping.answer(first)["result"] == {}
    assert keeping.answer(second)["error"]["code"] == -32600
    assert keeping.answer(early)["error"]["code"] == -32600
    assert len(keeping.updates(ID)) == 2000
    assert len(said(talk(keeping, own_model, ID))) == 2001


@pytest.mark.parametrize("end", ["the input ends", "the output is closed"])
def test_a_client_that_leaves_during_a_load_holds_up_nothing(
    begin: Callable[..., Agent], tmp_path: Path, end: str
) -> None:
    """Gone in time, with exit code 0; the file is as it was, and can be loaded by the next."""
    path = written(tmp_path, ID, [SYSTEM, *({"role": "user", "content": "x" * 10_000} for _ in range(2000))])
    before = path.read_bytes()
    bob = begin()
    bob.request(
        "session/load", {"sessionId": ID, "cwd": str(tmp_path), "mcpServers": []}, while_reading=False
    )
    if end == "the input ends":
        bob.close_stdin()
    else:
        assert bob.process.stdout
        bob.process.stdout.close()
        bob.stdout = -1
    assert bob.exit_code() == 0
    assert path.read_bytes() == before
    again = begin()
    assert load(again, ID, tmp_path)["result"] == {}
