"""A prompt and its turn: what the model is asked, what streams, how it ends, what is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelCall, ModelServer, assert_valid_history
from raw_client import Agent, Message

REJECTED = "[command rejected by the user]"


def question(call: ModelCall) -> str:
    """The newest user text of a request."""
    return next(one["content"] for one in reversed(call.messages) if one["role"] == "user")


# -- what the model is asked

PROMPTS: dict[str, tuple[list[Message], str]] = {
    "text blocks are joined as they are": (
        [{"type": "text", "text": "a "}, {"type": "text", "text": "\n b"}, {"type": "text", "text": ""}],
        "a \n b",
    ),
    "a resource link is a line with its path": (
        [
            {"type": "text", "text": "look at"},
            {"type": "resource_link", "name": "x", "uri": "file:///tmp/a%20b/%C3%A9.py"},
        ],
        "look at\n[attached file: /tmp/a b/é.py]",
    ),
    "a resource link alone": (
        [{"type": "resource_link", "name": "x", "uri": "file:///x.py", "size": 3, "mimeType": "text/x"}],
        "\n[attached file: /x.py]",
    ),
    "a path is taken as it is": (
        [{"type": "resource_link", "name": "x", "uri": "/tmp/x y"}],
        "\n[attached file: /tmp/x y]",
    ),
    "a percent sign that is none": (
        [{"type": "resource_link", "name": "x", "uri": "file:///100%/50%25"}],
        "\n[attached file: /100%/50%]",
    ),
    "other blocks are left out": (
        [
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "text", "text": "what is it?"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "secret"}},
        ],
        "what is it?",
    ),
    "annotations and _meta do not matter": (
        [{"type": "text", "text": "hi", "annotations": {"priority": 1}, "_meta": {"x": 1}}],
        "hi",
    ),
    "white space and characters of all kinds": (
        [{"type": "text", "text": "  \t\u00a0\u2028\u2029\x00\x7f\ufeff😀é\r\n "}],
        "  \t\u00a0\u2028\u2029\x00\x7f\ufeff😀é\r\n ",
    ),
}


@pytest.mark.parametrize(("blocks", "text"), PROMPTS.values(), ids=PROMPTS)
def test_a_prompt_reaches_the_model_as_text(
    bob: Agent, model: ModelServer, tmp_path: Path, blocks: list[Message], text: str
) -> None:
    """`text` blocks are concatenated; a resource_link becomes `\\n[attached file: <path>]`; others are ignored
    (R-128, B142: never silence or a hang)."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, blocks)
    call = model.next()
    assert question(call) == text
    call.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        [{"type": "resource", "resource": {"uri": "file:///x", "blob": "aGk="}}],
        [],
        [{"type": "text", "text": ""}],
    ],
)
def test_a_prompt_of_nothing_that_is_read_is_still_answered(
    bob: Agent, model: ModelServer, tmp_path: Path, blocks: list[Message]
) -> None:
    """B142: an image sent anyway does not hang the turn."""
    prompt = bob.prompt(bob.new_session(tmp_path), blocks)
    call = model.next()
    assert_valid_history(call.messages)
    call.text("?").finish()
    assert bob.answer(prompt)["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("hi", "/prompt"),
        (None, "/prompt"),
        ([{"type": "hologram", "x": 1}], "/prompt/0"),
        ([{"type": "text", "text": "a"}, {"type": "text"}], "/prompt/1"),
        ([{"text": "a"}], "/prompt/0"),
        ([7], "/prompt/0"),
        ([{"type": "resource_link", "uri": 7, "name": "x"}], "/prompt/0/uri"),
    ],
)
def test_a_malformed_prompt_is_refused_with_its_place(
    bob: Agent, tmp_path: Path, prompt: Any, path: str
) -> None:
    """Wrong params: -32602 with a JSON pointer."""
    params = {"sessionId": bob.new_session(tmp_path), "prompt": prompt}
    error = bob.call("session/prompt", params)["error"]
    assert error["code"] == -32602
    assert error["data"]["path"].startswith(path)


@pytest.mark.parametrize("id_", ["20200101-000000-00000000", "", "\u2028", "x" * 100_000])
def test_an_unknown_session_is_named_in_the_error(bob: Agent, id_: str) -> None:
    """Unknown session: -32602 with data.sessionId."""
    error = bob.call("session/prompt", {"sessionId": id_, "prompt": [{"type": "text", "text": "x"}]})["error"]
    assert error["code"] == -32602
    assert error["data"]["sessionId"] == id_


def test_the_first_message_is_the_system_prompt_of_the_session(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """A fresh history holding the system prompt; it names the directory; the four tools are offered."""
    prompt = bob.prompt(bob.new_session(tmp_path), "hi")
    call = model.next()
    assert [one["role"] for one in call.messages] == ["system", "user"]
    assert str(tmp_path) in call.messages[0]["content"]
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in call.body["tools"]}
    assert {name: (set(spec["properties"]), set(spec["required"])) for name, spec in tools.items()} == {
        "bash": ({"command", "timeout"}, {"command"}),
        "read_file": ({"path", "offset", "limit"}, {"path"}),
        "write_file": ({"path", "content"}, {"path", "content"}),
        "edit_file": ({"path", "old_text", "new_text", "replace_all"}, {"path", "old_text", "new_text"}),
    }
    call.finish()
    bob.answer(prompt)


# -- what streams

PIECES = ["  lead", "", " ", "\n", "\n\n", "\tx\t", "é", "漢", "😀", "\u2028", "\x00", "end  \n"]


def test_text_streams_as_it_comes_with_all_its_white_space(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """The model's text streams as agent_message_chunk, white space preserved."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    call = model.next()
    for piece in PIECES:
        call.text(piece)
        if piece:
            # Each piece is on the wire before the next is written: it streams.
            update = bob.until(lambda message: message.get("method") == "session/update")["params"]["update"]
            assert update == {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": piece},
            }
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session) == "".join(PIECES)


def test_thoughts_stream_as_thoughts_and_are_not_sent_back(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """What a model thinks aloud is no answer: it is shown as a thought and is no part of the history."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    model.next().think("hm ").think("so").text("yes").finish()
    bob.answer(prompt)
    kinds = [(one["sessionUpdate"], one["content"]["text"]) for one in bob.updates(session)]
    assert kinds == [
        ("agent_thought_chunk", "hm "),
        ("agent_thought_chunk", "so"),
        ("agent_message_chunk", "yes"),
    ]
    again = bob.prompt(session, "and?")
    call = model.next()
    assert "hm" not in json.dumps(call.messages[1:])
    call.finish()
    bob.answer(again)


# -- how it ends


@pytest.mark.parametrize(
    ("finish", "stop_reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"), ("end_turn", "end_turn")],
)
def test_the_models_reason_becomes_the_stop_reason(
    bob: Agent, model: ModelServer, tmp_path: Path, finish: str, stop_reason: str
) -> None:
    """end_turn on success, max_tokens when the model stopped for length, refusal for a content filter (R-137, B222)."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    model.next().text("well").finish(finish)
    assert bob.answer(prompt)["result"] == {"stopReason": stop_reason}
    assert bob.text_of(session) == "well"


@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
def test_a_server_that_keeps_the_connection_open_does_not_hold_up_the_turn(
    bob: Agent, model: ModelServer, tmp_path: Path, finish: str
) -> None:
    """B126: the answer is whole with its finish reason; neither [DONE] nor the end of the body is waited for long."""
    prompt = bob.prompt(bob.new_session(tmp_path), "hi")
    call = model.next().text("done")
    if finish == "tool_calls":
        call.tool("bash", {"command": "true"}).chunk({}, finish_reason=finish)
        bob.choose(bob.permission())
        call = model.next()
    call.chunk({}, finish_reason="stop")
    assert bob.answer(prompt, 8.0)["result"] == {"stopReason": "end_turn"}


def test_what_was_refused_is_not_part_of_the_next_prompt(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """R-138: after a refusal the refused prompt and what followed are dropped from the context."""
    session = bob.new_session(tmp_path)
    first = bob.prompt(session, "forbidden")
    model.next().text("I ").finish("content_filter")
    bob.answer(first)
    second = bob.prompt(session, "allowed")
    call = model.next()
    assert [one.get("content") for one in call.messages[1:]] == ["allowed"]
    call.finish()
    bob.answer(second)


def test_max_steps_end_a_turn_that_would_go_on_for_ever(start: Callable[..., Agent], tmp_path: Path) -> None:
    """max_turn_requests when limits.maxSteps is reached; the tools of the last step have run."""
    script = tmp_path / "loop.model"
    script.write_text(
        "[[rule]]\ndefault = true\n[[rule.reply]]\ncycles = 1000\n"
        'parts = [ { tool_call = { name = "bash", arguments = { command = "true" } } } ]\n'
    )
    bob = start(f'[model]\nprovider = "scripted"\nscript = "{script}"\n[limits]\nmaxSteps = 3\n')
    bob.initialize()
    session = bob.new_session(tmp_path)
    for turn in (1, 2):
        assert bob.turn(session, "go")["result"] == {"stopReason": "max_turn_requests"}
        done = [one for one in bob.updates(session) if one.get("status") == "completed"]
        assert len(done) == 3 * turn
    assert bob.end() == 0
    bob.assert_clean()


FAILURES: dict[str, tuple[Callable[[ModelCall], None], str]] = {
    "a bad key": (lambda call: call.refuse("401 Unauthorized", {"error": {"message": "no"}}), "key"),
    "an unknown model": (
        lambda call: call.refuse("404 Not Found", {"error": {"message": "model m not found"}}),
        "m",
    ),
    "a full context": (
        lambda call: call.refuse(
            "400 Bad Request",
            {
                "error": {
                    "message": "This model's maximum context length is 8 tokens",
                    "code": "context_length_exceeded",
                }
            },
        ),
        "context",
    ),
    "a refusal by policy": (
        lambda call: call.refuse("400 Bad Request", {"error": {"message": "against our policy"}}),
        "against our policy",
    ),
    "a broken server": (
        lambda call: call.refuse("500 Internal Server Error", {"error": "boom\n  at line 1\n"}),
        "boom",
    ),
    "no answer at all": (lambda call: call.hang_up(), "connection"),
    "not a model server": (lambda call: call.refuse("200 OK", "<html>"), ""),
}


@pytest.mark.parametrize(("fail", "word"), FAILURES.values(), ids=FAILURES)
def test_a_failed_model_call_is_one_sentence_and_the_session_goes_on(
    bob: Agent, model: ModelServer, tmp_path: Path, fail: Callable[[ModelCall], None], word: str
) -> None:
    """Any failure: -32603 with message `error: <one-line explanation>`, no traceback on stderr; the session stays
    usable (B131), and a question with no answer at all is removed."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "lost question")
    fail(model.next())
    error = bob.answer(prompt)["error"]
    assert error["code"] == -32603
    assert error["message"].startswith("error: ")
    assert "\n" not in error["message"]
    assert len(error["message"]) > len("error: ") + 10
    assert word in error["message"]
    assert "Traceback" not in bob.stderr_text()
    again = bob.prompt(session, "next")
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["next"]
    call.text("fine").finish()
    assert bob.answer(again)["result"] == {"stopReason": "end_turn"}


def test_a_dead_server_is_named_with_its_address(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Also for a dead server, in words a person can act on."""
    gone = ModelServer()
    gone.close()
    bob = start(f'[model]\nprovider = "openai"\nbaseUrl = "{gone.url}"\nname = "m"\nretries = 0\n')
    bob.initialize()
    answer = bob.turn(bob.new_session(tmp_path), "hi")
    assert answer["error"]["code"] == -32603
    assert answer["error"]["message"].startswith("error: ")
    assert gone.url.removesuffix("/v1") in answer["error"]["message"]
    assert bob.end() == 0
    assert "Traceback" not in bob.stderr_text()


def test_a_failure_in_the_middle_keeps_what_was_said(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The history is kept after a failure: what the person has read, the model knows too."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "first")
    call = model.next().text("half an ans")
    bob.until(lambda message: message.get("method") == "session/update")
    call.raw(b'data: {"error": {"message": "overloaded"}}\n\n')
    assert "overloaded" in bob.answer(prompt)["error"]["message"]
    again = bob.prompt(session, "second")
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["first", "half an ans", "second"]
    assert_valid_history(call.messages)
    call.finish()
    bob.answer(again)


def test_a_turn_is_summed_up_on_standard_error(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """After each turn stderr says `[acp] turn done: N command(s) · N file op(s) · N skill(s)`."""
    session = bob.new_session(tmp_path)
    before = bob.stderr_text().count("turn done")
    prompt = bob.prompt(session, "work")
    model.next().tool("bash", {"command": "true"}, "a", 0).tool(
        "write_file", {"path": "f", "content": "x"}, "b", 1
    ).tool("read_file", {"path": "f"}, "c", 2).tool("bash", {"command": "false"}, "d", 3).finish("tool_calls")
    for _ in range(4):
        bob.choose(bob.permission())
    model.next().text("done").finish()
    bob.answer(prompt)
    text = bob.until_stderr(lambda text: text.count("turn done") > before)
    lines = [line for line in text.splitlines() if "turn done" in line]
    assert lines[-1] == "[acp] turn done: 2 command(s) · 2 file op(s) · 0 skill(s)"


def test_a_rejected_command_is_not_counted(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """N command(s): those that ran."""
    session = bob.new_session(tmp_path)
    before = bob.stderr_text().count("turn done")
    prompt = bob.prompt(session, "work")
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    bob.choose(bob.permission(), "reject")
    model.next().text("done").finish()
    bob.answer(prompt)
    text = bob.until_stderr(lambda text: text.count("turn done") > before)
    assert text.rstrip().endswith("turn done: 0 command(s) · 0 file op(s) · 0 skill(s)")


# -- one turn at a time


def test_turns_are_served_one_at_a_time_first_come_first_served(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Turns are serialised process-wide, over all sessions, and three sessions stay apart (B149, B129)."""
    sessions = [bob.new_session(tmp_path) for _ in range(3)]
    order = [0, 1, 2, 0, 0, 1]
    prompts = [bob.prompt(sessions[which], f"question {number}") for number, which in enumerate(order)]
    for number, which in enumerate(order):
        call = model.next()
        assert question(call) == f"question {number}"
        bob.barrier()
        assert not model.is_asked()
        call.text(f"answer {number}").finish()
        assert bob.answer(prompts[number])["result"] == {"stopReason": "end_turn"}
        assert not any(bob.answers(later) for later in prompts[number + 1 :]), which
    for which, session in enumerate(sessions):
        mine = [number for number, owner in enumerate(order) if owner == which]
        assert bob.text_of(session) == "".join(f"answer {number}" for number in mine)


def test_two_prompts_in_one_session_are_queued_and_share_the_history(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """A second prompt in a session whose turn is open queues; the first turn is unharmed."""
    session = bob.new_session(tmp_path)
    first, second = bob.prompt(session, "one"), bob.prompt(session, "two")
    model.next().text("1").finish()
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["one", "1", "two"]
    call.text("2").finish()
    assert bob.answer(first)["result"] == bob.answer(second)["result"] == {"stopReason": "end_turn"}


def test_requests_are_answered_while_a_turn_runs(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """R-304: reading goes on while anything else is awaited."""
    prompt = bob.prompt(bob.new_session(tmp_path), "hi")
    call = model.next()
    assert bob.new_session(tmp_path)
    assert bob.call("authenticate", {"methodId": "x"})["result"] == {}
    assert not bob.answers(prompt)
    call.finish()
    bob.answer(prompt)


# -- what is remembered


def test_the_conversation_is_sent_along_with_the_next_prompt(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """The history the engine returns is kept: text, calls and results, in order."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "list")
    model.next().text("I look. ").tool("bash", {"command": "echo one"}, "abc").finish("tool_calls")
    bob.choose(bob.permission())
    second = model.next()
    assert second.messages[:2] == [second.messages[0], {"role": "user", "content": "list"}]
    assert second.messages[2]["content"] == "I look. "
    assert second.messages[2]["tool_calls"][0]["id"] == "abc"
    assert second.messages[3] == {"role": "tool", "tool_call_id": "abc", "content": "one\n"}
    second.text("one").finish()
    bob.answer(prompt)
    again = bob.prompt(session, "thanks")
    third = model.next()
    assert third.messages[:4] == second.messages
    assert third.messages[4:] == [
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "thanks"},
    ]
    assert_valid_history(third.messages)
    third.finish()
    bob.answer(again)


def test_sessions_have_histories_of_their_own(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """A fresh history for each session."""
    one, two = bob.new_session(tmp_path), bob.new_session(tmp_path)
    for session in (one, two):
        prompt = bob.prompt(session, f"only for {session}")
        call = model.next()
        assert [message["content"] for message in call.messages[1:]] == [f"only for {session}"]
        call.text("ok").finish()
        bob.answer(prompt)


# Calls as models botch them, and a word of the result that tells the model what to do.
BOTCHED: dict[str, tuple[str, str, str]] = {
    "arguments that are no JSON": ("bash", '{"command": "ls', "JSON"),
    "arguments that are a list": ("bash", "[1]", "object"),
    "arguments that are a string": ("bash", '"ls"', "object"),
    "no arguments": ("bash", "", "command"),
    "a missing argument": ("read_file", "{}", "path"),
    "an argument of a wrong type": ("bash", '{"command": 7}', "command"),
    "an argument out of range": ("bash", '{"command": "ls", "timeout": -1}', "timeout"),
    "an unknown tool": ("teleport", '{"where": "home"}', "teleport"),
    "half a surrogate pair": ("bash", '{"command": "\\ud83d"}', "surrogate"),
    "nested beyond reason": ("bash", '{"command": "ls", "x": ' + "[" * 1000 + "]" * 1000 + "}", "nested"),
    "NUL in a command": ("bash", '{"command": "a\\u0000b"}', "NUL"),
    "a number beyond 64 bits": ("bash", '{"command": "ls", "timeout": 1' + "0" * 400 + "}", ""),
}


@pytest.mark.parametrize(("name", "arguments", "word"), BOTCHED.values(), ids=BOTCHED)
def test_a_botched_call_is_a_failed_call_and_the_turn_goes_on(
    bob: Agent, model: ModelServer, tmp_path: Path, name: str, arguments: str, word: str
) -> None:
    """Unknown tool, malformed or missing arguments: `failed` with a sentence the model can use, and the turn goes on;
    what is sent next is valid (B221)."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool(name, arguments, "x1").finish("tool_calls")
    last = bob.until(
        lambda message: (
            message.get("method") == "session/request_permission"
            or message.get("params", {}).get("update", {}).get("status") == "failed"
        )
    )
    if last["method"] == "session/request_permission":
        bob.choose(last)
    call = model.next()
    assert_valid_history(call.messages)
    result = call.messages[-1]
    assert result["role"] == "tool"
    assert word.lower() in result["content"].lower()
    call.text("sorry").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    final = [one for one in bob.updates(session) if one["sessionUpdate"] == "tool_call_update"][-1]
    assert final["status"] == "failed"
    assert final["rawOutput"]["output"] == result["content"]


def test_calls_of_an_answer_that_broke_off_are_neither_run_nor_remembered(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """A half plan is not run (B222), and a call without result never reaches the model server."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    call = model.next().text("I will").tool("bash", {"command": "touch ran"})
    bob.until(lambda message: message.get("method") == "session/update")
    call.raw(b'data: {"error": {"message": "gone"}}\n\n')
    assert bob.answer(prompt)["error"]["code"] == -32603
    assert not (tmp_path / "ran").exists()
    again = bob.prompt(session, "and now?")
    call = model.next()
    assert_valid_history(call.messages)
    assert "touch ran" not in json.dumps(call.messages)
    call.finish()
    bob.answer(again)


def test_many_calls_at_once_run_in_order_and_each_has_its_result(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Fifty calls in one answer, with ids used twice: all run, one after the other, and the history stays valid."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    call = model.next()
    for number in range(50):
        call.tool("bash", {"command": f"echo {number} | tee -a log"}, f"same{number % 3}", number)
    call.finish("tool_calls")
    bob.choose(bob.permission(), "allow_always")
    call = model.next()
    assert_valid_history(call.messages)
    results = [one["content"] for one in call.messages if one["role"] == "tool"]
    assert results == [f"{number}\n" for number in range(50)]
    assert (tmp_path / "log").read_text().split() == [str(number) for number in range(50)]
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_ids_the_model_used_before_are_not_confused(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Some servers number calls anew in each answer: ids still match one call and one result."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    for step in range(3):
        model.next().tool("bash", {"command": f"echo {step}"}, "call_0").finish("tool_calls")
        bob.choose(bob.permission())
    call = model.next()
    assert_valid_history(call.messages)
    assert [one["content"] for one in call.messages if one["role"] == "tool"] == ["0\n", "1\n", "2\n"]
    call.finish()
    bob.answer(prompt)


def test_an_empty_answer_ends_the_turn(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """B219: nothing said at all, or thoughts alone; the next request is valid."""
    session = bob.new_session(tmp_path)
    for think in (False, True):
        prompt = bob.prompt(session, "hm?")
        call = model.next()
        if think:
            call.think("...")
        call.finish()
        assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    again = bob.prompt(session, "well?")
    call = model.next()
    assert_valid_history(call.messages)
    call.finish()
    bob.answer(again)


def test_no_traceback_unless_debug_is_asked_for(start: Callable[..., Agent], tmp_path: Path) -> None:
    """A traceback on stderr only with log.level = "debug"; never on the wire."""
    gone = ModelServer()
    gone.close()
    text = f'[model]\nprovider = "openai"\nbaseUrl = "{gone.url}"\nname = "m"\nretries = 0\n[log]\nlevel = "debug"\n'
    bob = start(text)
    bob.initialize()
    answer = bob.turn(bob.new_session(tmp_path), "hi")
    assert "Traceback" not in json.dumps(answer)
    assert bob.end() == 0
    assert re.search(r"^Traceback|^\[acp\] debug", bob.stderr_text(), re.MULTILINE)
