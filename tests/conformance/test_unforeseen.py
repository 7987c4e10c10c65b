"""Inputs nobody sends until somebody does: very many, very large, very odd."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, assert_valid_history
from raw_client import Agent, waiting

CANCELLED = {"stopReason": "cancelled"}


def test_ten_thousand_sessions(start: Callable[..., Agent], tmp_path: Path) -> None:
    """All have ids of their own, the first and the last still work, memory stays within reason."""
    bob = start(judged=False)
    bob.initialize()
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "session/new",
            "params": {"cwd": str(tmp_path), "mcpServers": []},
        }
    ).replace('"id": 0', '"id": %d')
    bob.write(b"".join(line.encode() % (1000 + number) + b"\n" for number in range(10_000)))
    last = bob.answer(10_999)["result"]["sessionId"]
    assert not [message for message in bob.messages if "error" in message]
    ids = [message["result"]["sessionId"] for message in bob.messages if message.get("id", 0) >= 1000]
    assert len(set(ids)) == 10_000
    assert bob.turn(ids[0], "hello")["result"] == {"stopReason": "end_turn"}
    assert bob.turn(last, "hello")["result"] == {"stopReason": "end_turn"}
    assert bob.rss_kib < 200 * 1024
    assert bob.end() == 0


def test_a_thousand_queued_prompts_and_one_cancel(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Every one is answered `cancelled`, in one go, and the session goes on."""
    session = bob.new_session(tmp_path)
    ids = [bob.prompt(session, f"question {number}") for number in range(1000)]
    model.next()
    bob.cancel(session)
    for id_ in ids:
        assert bob.answer(id_, 6.0)["result"] == CANCELLED
    assert not model.is_asked()
    after = bob.prompt(session, "after")
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["after"]
    call.finish()
    bob.answer(after)


def test_a_thousand_queued_prompts_are_served_in_order(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Nothing is lost in a long queue; nothing grows with it but the history (R-314)."""
    script = tmp_path / "echo.model"
    script.write_text("[[rule]]\nregex = 'say (\\d+)'\n[[rule.reply]]\nparts = [ { text = \"{1} \" } ]\n")
    bob = start(f'[model]\nprovider = "scripted"\nscript = "{script}"\n', judged=False)
    bob.initialize()
    sessions = [bob.new_session(tmp_path) for _ in range(10)]
    ids = [bob.prompt(sessions[number % 10], f"say {number}") for number in range(1000)]
    for id_ in ids:
        assert bob.answer(id_)["result"] == {"stopReason": "end_turn"}
    for which, session in enumerate(sessions):
        assert bob.text_of(session) == "".join(f"{number} " for number in range(which, 1000, 10))
    assert bob.end() == 0


def test_a_prompt_of_ten_thousand_blocks(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """1 MiB in many blocks of all kinds."""
    blocks: list[dict[str, Any]] = []
    for number in range(5000):
        blocks.append({"type": "text", "text": f"{number} " + "x" * 100})
        blocks.append({"type": "resource_link", "uri": f"file:///f{number}", "name": "n" * 50})
    prompt = bob.prompt(bob.new_session(tmp_path), blocks)
    call = model.next()
    text = call.messages[-1]["content"]
    assert text.count("[attached file: /f") == 5000
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    "text",
    [
        r"\ud83d",
        r"\ude00\ud83d",
        r"a\udfffb",
        r"\u0000\u2028\u2029\u0085",
        r"\ufeff\uffff\ufffe",
        r"\u001b[31m",
        r"\\ud83d",
        r"\ud83d\ude00",
    ],
)
def test_text_of_all_kinds_in_both_directions(
    bob: Agent, model: ModelServer, tmp_path: Path, text: str
) -> None:
    """Lone surrogates, line separators, byte order marks: the prompt is answered, the wire stays valid UTF-8, and what
    the model sends of that kind arrives as valid JSON too."""
    session = bob.new_session(tmp_path)
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": "odd",
            "method": "session/prompt",
            "params": {"sessionId": session, "prompt": [{"type": "text", "text": "TEXT"}]},
        }
    ).replace("TEXT", text)
    seen = len(bob.messages)
    bob.send_line(line.encode())
    call = model.next()
    call.messages[-1]["content"].encode()
    call.raw(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % text.encode()
    )
    call._begun = True
    call.finish()
    answer = bob.until(lambda message: message.get("id") == "odd")
    assert answer["result"] == {"stopReason": "end_turn"}
    bob.text_of(session, seen).encode()


def test_a_cwd_of_odd_characters(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """A folder may be called anything: the log, the system prompt and commands cope."""
    place = tmp_path / "a\nb [acp] {x} %s \x1b[31m 漢 '\"$(touch owned)"
    place.mkdir()
    session = bob.new_session(place)
    prompt = bob.prompt(session, "go")
    call = model.next()
    assert str(place) in call.messages[0]["content"]
    call.tool("bash", {"command": "echo in >here"}).finish("tool_calls")
    bob.choose(bob.permission())
    model.next().finish()
    bob.answer(prompt)
    assert (place / "here").read_text() == "in\n"
    assert not (place / "owned").exists()
    assert "\x1b" not in bob.stderr_text()


def test_a_cwd_that_is_not_utf8(start: Callable[..., Agent], tmp_path: Path) -> None:
    """The agent is started, and bash leaves, where no character set reaches: the wire stays valid."""
    place = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(place)  # noqa: PTH102 - a name that is no text
    bob = start(cwd=os.fsdecode(place))
    bob.initialize()
    session = bob.new_session(tmp_path)
    assert bob.turn(session, "run cd $(printf '\\377\\376'); pwd; ls")["result"] == {"stopReason": "end_turn"}
    assert bob.end() == 0
    bob.assert_clean()


def test_a_cwd_that_goes_away(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The directory is deleted after session/new: the command fails with a sentence, the turn goes on."""
    place = tmp_path / "gone"
    place.mkdir()
    session = bob.new_session(place)
    place.rmdir()
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    bob.choose(bob.permission())
    call = model.next()
    assert "gone" in call.messages[-1]["content"]
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_deep_nesting_wherever_it_is_allowed(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """_meta as deep as JSON readers take it: on the prompt, in a permission's answer, in a cancel."""
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": [deep]}
    session = bob.new_session(tmp_path)
    prompt = bob.request(
        "session/prompt",
        {"sessionId": session, "_meta": deep, "prompt": [{"type": "text", "text": "x", "_meta": deep}]},
    )
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    request = bob.permission()
    outcome = {"outcome": "selected", "optionId": "allow", "_meta": deep}
    bob.respond(request, {"outcome": outcome, "_meta": deep})
    call = model.next()
    bob.notify("session/cancel", {"sessionId": session, "_meta": deep})
    call.wait_gone()
    assert bob.answer(prompt, 6.0)["result"] == CANCELLED
    done = [update for update in bob.updates(session) if update.get("status") == "completed"]
    assert len(done) == 1


def test_deep_and_large_tool_arguments(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Arguments go out again as rawInput: whatever they hold, the line is valid and the turn goes on."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    odd: dict[str, Any] = {
        "deep": json.loads("[" * 150 + "]" * 150),
        "": {"": None},
        "\u2028": "\x00",
        "number": 1e308,
        "big": 2**60,
        "list": list(range(1000)),
    }
    model.next().tool("bash", {"command": "true", **odd}).finish("tool_calls")
    bob.choose(bob.permission())
    call = model.next().tool("write_file", {"path": "big", "content": "é" * 1_000_000})
    call.finish("tool_calls")
    bob.choose(bob.permission())
    call = model.next()
    assert_valid_history(call.messages)
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert (tmp_path / "big").stat().st_size == 2_000_000
    first = next(update for update in bob.updates(session) if update["sessionUpdate"] == "tool_call")
    assert first["rawInput"]["list"] == list(range(1000))


@pytest.mark.parametrize(
    "arguments",
    [
        '{"command": "echo \\ud800"}',
        '{"command": "true", "x": "\\udfff"}',
        '{"command": "true", "\\ud800": 1}',
        '{"command": "true", "x": ' + "9" * 400 + "}",
        '{"command": "true", "x": NaN}',
        '{"command": "true"} trailing',
        '{"command": "true"}{"command": "true"}',
        "null",
        "\x00",
        '{"command": "true", "command": "false"}',
        "{" * 100_000,
    ],
)
def test_odd_arguments_never_break_the_wire_or_the_history(
    bob: Agent, model: ModelServer, tmp_path: Path, arguments: str
) -> None:
    """B221, B309: half characters, several objects in one, duplicate keys: run, or failed with a sentence."""
    session = bob.new_session(tmp_path)
    first = bob.prompt(session, "allow it")
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    bob.choose(bob.permission(), "allow_always")
    model.next().finish()
    bob.answer(first)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", arguments).finish("tool_calls")
    call = model.next()
    assert_valid_history(call.messages)
    json.dumps(call.body, ensure_ascii=False).encode()
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    status = {one["toolCallId"]: one["status"] for one in bob.updates(session) if "toolCallId" in one}
    assert len(status) >= 2
    assert set(status.values()) <= {"completed", "failed"}


@pytest.mark.parametrize(
    "command",
    [
        "head -c 100000 /dev/urandom",
        r"printf 'a\0b\xff\xc3'",
        "yes | head -c 30000000",
        "head -c 30000000 /dev/zero | tr '\\0' 'x'",
        r"printf '\033[31mred\007\n\r\n'",
        r"printf '\xed\xa0\x80\xf4\x90\x80\x80'",
    ],
)
def test_output_of_any_kind_is_text_within_bounds(
    bob: Agent, model: ModelServer, tmp_path: Path, command: str
) -> None:
    """B307, B309: bounded while it is produced, head and tail kept, the cut said, valid UTF-8."""
    before = bob.rss_kib
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": command}).finish("tool_calls")
    bob.choose(bob.permission())
    call = model.next()
    told = call.messages[-1]["content"]
    assert len(told.encode()) < 400_000
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert bob.rss_kib - before < 24 * 1024


def test_a_client_that_answers_nothing_but_permissions(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """B127, B144, B162: with all capabilities advertised and none of them served, a turn with every tool ends."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("write_file", {"path": "f", "content": "x"}, "a", 0).tool(
        "read_file", {"path": "f"}, "b", 1
    ).tool("bash", {"command": "cat f"}, "c", 2).finish("tool_calls")
    for _ in range(3):
        bob.choose(bob.permission())
    call = model.next()
    assert [one["content"][:1] for one in call.messages if one["role"] == "tool"][2] == "x"
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    asked = {message["method"] for message in bob.messages if "method" in message}
    assert asked <= {"session/update", "session/request_permission", "$/cancel_request"}


def test_hundreds_of_turns_leave_nothing_behind(start: Callable[..., Agent], tmp_path: Path) -> None:
    """R-314: descriptors, children and memory come to rest after work."""
    bob = start(judged=False)
    bob.initialize()
    session = bob.new_session(tmp_path)

    def descriptors() -> int:
        return len(list(Path(f"/proc/{bob.process.pid}/fd").iterdir()))

    def children() -> str:
        return Path(f"/proc/{bob.process.pid}/task/{bob.process.pid}/children").read_text()

    for _ in range(20):
        bob.turn(session, "run echo hi", "allow_always")
    before, memory = descriptors(), bob.rss_kib
    for number in range(150):
        bob.turn(session, "run echo hi & true" if number % 3 else "read missing", "allow_always")
    for _ in waiting():
        if descriptors() <= before and not children():
            break
    assert descriptors() <= before
    assert children() == ""
    assert bob.rss_kib - memory < 8 * 1024
    assert bob.end() == 0


def test_a_client_name_of_all_kinds_is_one_line_of_log(start: Callable[..., Agent]) -> None:
    """A newline, a mebibyte or an escape in a name forges no line and stops nothing."""
    bob = start()
    name = "x\n[acp] turn done: 99 command(s)\x1b[2J" + "y" * (1 << 20)
    bob.initialize(clientInfo={"name": name, "version": "\r\n1"})
    assert bob.end() == 0
    text = bob.stderr_text()
    assert "\n[acp] turn done" not in text
    assert "\x1b" not in text


def test_a_user_without_a_home(start: Callable[..., Agent], tmp_path: Path) -> None:
    """No $HOME and no name for the user's number: sessions open and prompts with paths are answered."""
    hook = tmp_path / "sitecustomize.py"
    hook.write_text("import pwd\ndef unknown(uid):\n    raise KeyError(uid)\npwd.getpwuid = unknown\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environ = {name: value for name, value in os.environ.items() if name not in {"HOME", "XDG_CONFIG_HOME"}}
    bob = start(environ={**environ, "PYTHONPATH": path})
    bob.initialize()
    session = bob.new_session(tmp_path)
    assert bob.turn(session, "look at @~/x and ~root/y")["result"] == {"stopReason": "end_turn"}
    assert bob.turn(session, "read ~/x")["result"] == {"stopReason": "end_turn"}
    assert bob.end() == 0
    bob.assert_clean()
