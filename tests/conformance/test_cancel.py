"""Cancelling: in every state of a turn, in every way a client may ask, and what comes after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from model_server import ModelCall, ModelServer, assert_valid_history
from raw_client import Agent, Message, is_alive, pid_in, promised_s, wait_gone, waiting

CANCELLED = {"stopReason": "cancelled"}
Ask = Callable[[Agent, str, object], None]

WAYS: dict[str, Ask] = {
    "session/cancel": lambda bob, session, prompt: bob.cancel(session),
    "$/cancel_request": lambda bob, session, prompt: bob.notify("$/cancel_request", {"requestId": prompt}),
    "both": lambda bob, session, prompt: (
        bob.notify("$/cancel_request", {"requestId": prompt}),
        bob.cancel(session),
    )[0],
    "twice": lambda bob, session, prompt: (bob.cancel(session), bob.cancel(session))[0],
}


@pytest.fixture(params=WAYS)
def ask(request: pytest.FixtureRequest) -> Ask:
    """A way to cancel."""
    return WAYS[request.param]


def end(bob: Agent, model: ModelServer, session: str, prompt: object) -> None:
    """The cancelled turn's answer, nothing after it, no call left open, no further model request, and a normal next
    turn whose request is valid (R-155 to R-161, B114, B116, B117, B119)."""
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    seen = len(bob.messages)
    bob.barrier()
    assert [message for message in bob.messages[seen:] if "method" in message] == []
    assert len(bob.answers(prompt)) == 1
    status: dict[str, str] = {}
    for update in bob.updates(session):
        if "toolCallId" in update:
            status[update["toolCallId"]] = update.get("status", status.get(update["toolCallId"], ""))
    assert set(status.values()) <= {"completed", "failed"}
    assert not model.is_asked()
    start = len(bob.messages)
    after = bob.prompt(session, "after")
    call = model.next()
    assert call.messages[-1] == {"role": "user", "content": "after"}
    assert_valid_history(call.messages)
    call.text("new text").finish()
    assert bob.answer(after)["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session, start) == "new text"


def test_before_the_first_token(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """The usual case: the model has the request and says nothing yet. The request is aborted."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    call = model.next()
    ask(bob, session, prompt)
    call.wait_gone()
    end(bob, model, session, prompt)


def test_in_the_same_write_as_the_prompt(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """R3: prompt and cancel pipelined; the turn is known before anything else is read (R10)."""
    session = bob.new_session(tmp_path)
    for way in WAYS.values():
        prompt = bob.prompt(session, "hi")
        way(bob, session, prompt)
        assert bob.answer(prompt, promised_s())["result"] == CANCELLED


def test_while_text_streams(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """The request is aborted; what was said stays in the history."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    call = model.next().text("half ")
    bob.until(lambda message: message.get("method") == "session/update")
    ask(bob, session, prompt)
    call.wait_gone()
    end(bob, model, session, prompt)


def test_while_thoughts_stream(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """A question that got thoughts only has no answer: it is removed."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "lost question")
    call = model.next().think("hm")
    bob.until(lambda message: message.get("method") == "session/update")
    bob.cancel(session)
    call.wait_gone()
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    again = bob.prompt(session, "next")
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["next"]
    call.finish()
    bob.answer(again)


def test_while_a_tool_call_is_dictated(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Half a call is neither announced nor remembered."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    call = model.next().text("I ")
    call.chunk({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "bash", "arguments": '{"comm'}}]})
    bob.until(lambda message: message.get("method") == "session/update")
    bob.cancel(session)
    call.wait_gone()
    assert not any("toolCallId" in update for update in bob.updates(session))
    end(bob, model, session, prompt)


def open_permission(bob: Agent, model: ModelServer, session: str) -> tuple[object, Message]:
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "touch ran"}).finish("tool_calls")
    return prompt, bob.permission()


def test_while_a_permission_is_open_and_answered_cancelled(
    bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask
) -> None:
    """A conforming client answers `cancelled` at once: no withdrawal, the call ends failed (B119)."""
    session = bob.new_session(tmp_path)
    prompt, request = open_permission(bob, model, session)
    ask(bob, session, prompt)
    bob.choose(request, "cancelled")
    end(bob, model, session, prompt)
    assert not any(message.get("method") == "$/cancel_request" for message in bob.messages[-20:])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("option", ["allow", "allow_always", "reject"])
def test_while_a_permission_is_open_and_answered_all_the_same(
    bob: Agent, model: ModelServer, tmp_path: Path, option: str
) -> None:
    """A client that answers with an option after its own cancel: nothing runs, nothing is allowed for good."""
    session = bob.new_session(tmp_path)
    prompt, request = open_permission(bob, model, session)
    bob.cancel(session)
    bob.choose(request, option)
    end(bob, model, session, prompt)
    assert not (tmp_path / "ran").exists()
    second, request = open_permission(bob, model, session)
    bob.choose(request, "reject")
    model.next().finish()
    bob.answer(second)


def test_while_a_permission_is_open_and_never_answered(
    bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask
) -> None:
    """The agent waits a moment, withdraws its request and answers; the late answer is dropped."""
    session = bob.new_session(tmp_path)
    prompt, request = open_permission(bob, model, session)
    ask(bob, session, prompt)
    withdrawn = bob.until(lambda message: message.get("method") == "$/cancel_request", promised_s())
    assert withdrawn["params"] == {"requestId": request["id"]}
    end(bob, model, session, prompt)
    assert bob.messages.index(withdrawn) < bob.messages.index(bob.answer(prompt))
    seen, said = len(bob.messages), bob.stderr_text()
    bob.choose(request, "allow_always")
    bob.barrier()
    assert len(bob.messages) == seen + 1
    assert not (tmp_path / "ran").exists()
    assert "response" not in bob.stderr_text().removeprefix(said)
    again, request = open_permission(bob, model, session)
    bob.choose(request, "reject")
    model.next().finish()
    bob.answer(again)


def test_right_behind_a_yes(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """R5: `selected`, then session/cancel. The tool may have started; it is ended and the answer is `cancelled`."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "echo $$ > pid; sleep 600"}).finish("tool_calls")
    bob.choose(bob.permission())
    bob.cancel(session)
    end(bob, model, session, prompt)
    for _ in waiting(0.2):
        if (tmp_path / "pid").exists():
            wait_gone(pid_in(tmp_path / "pid"))
            break


COMMANDS = {
    "that sleeps": "echo $$ > pid; sleep 600",
    "that became another": "echo $$ > pid; exec sleep 600",
    "that ignores the polite signal": "trap '' TERM INT HUP; echo $$ > pid; while true; do sleep 600; done",
    "whose child sleeps": "sleep 600 & echo $! > pid; wait",
    "with job control": "set -m; sleep 600 & echo $! > pid; wait",
    "in a session of its own": "setsid bash -c 'echo $$ > pid; sleep 600'; true",
    "that talks without end": "echo $$ > pid; yes",
    "that has closed its outputs": "echo $$ > pid; exec >/dev/null 2>&1; sleep 600",
    "that is stopped": "echo $$ > pid; kill -STOP $$",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_while_a_command_runs(bob: Agent, model: ModelServer, tmp_path: Path, command: str) -> None:
    """The tool's whole process group is ended, the call gets a final status, the answer comes in time."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": command}).finish("tool_calls")
    bob.choose(bob.permission())
    pid = pid_in(tmp_path / "pid")
    assert is_alive(pid)
    bob.cancel(session)
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    assert not is_alive(pid)
    end(bob, model, session, prompt)


def test_by_request_while_a_command_runs(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """`$/cancel_request` for an open prompt does the same."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": COMMANDS["that sleeps"]}).finish("tool_calls")
    bob.choose(bob.permission())
    pid = pid_in(tmp_path / "pid")
    ask(bob, session, prompt)
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    assert not is_alive(pid)
    end(bob, model, session, prompt)


@pytest.mark.parametrize("again", WAYS.values(), ids=WAYS)
def test_again_while_the_first_cancel_is_still_at_work(
    bob: Agent, model: ModelServer, tmp_path: Path, again: Ask
) -> None:
    """R11: the second is ignored; it does not cut short the ending of a command that takes its time."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": COMMANDS["that ignores the polite signal"]}).finish("tool_calls")
    bob.choose(bob.permission())
    pid = pid_in(tmp_path / "pid")
    bob.cancel(session)
    bob.barrier()
    again(bob, session, prompt)
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    assert not is_alive(pid)
    end(bob, model, session, prompt)


def test_between_several_calls(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """No new call starts after the cancel (B117), and those that were not begun have a stand-in in the history."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    call = model.next()
    for number in range(3):
        call.tool("bash", {"command": f"touch ran{number}"}, f"t{number}", number)
    call.finish("tool_calls")
    bob.choose(bob.permission())
    request = bob.permission()
    bob.cancel(session)
    bob.choose(request, "cancelled")
    end(bob, model, session, prompt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ran0"]
    assert len({update["toolCallId"] for update in bob.updates(session) if "toolCallId" in update}) == 2


def test_while_the_model_is_asked_again(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """After a tool: calls and results of before are kept."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().tool("bash", {"command": "echo seen"}).finish("tool_calls")
    bob.choose(bob.permission())
    call = model.next()
    ask(bob, session, prompt)
    call.wait_gone()
    assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    again = bob.prompt(session, "what did you see?")
    call = model.next()
    assert_valid_history(call.messages)
    assert [one["content"] for one in call.messages if one["role"] == "tool"] == ["seen\n"]
    call.finish()
    bob.answer(again)


def test_in_a_retry_wait(start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path) -> None:
    """B217: cancel during the wait for a rate limit acts at once; the model is not asked again."""
    bob = start(f'[model]\nprovider = "openai"\nbaseUrl = "{own_model.url}"\nname = "m"\nretries = 5\n')
    bob.initialize()
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    own_model.next().refuse("429 Too Many Requests", {"error": {"message": "slow down"}}, "retry-after: 30")
    bob.until_stderr(lambda text: "slow down" in text)
    bob.cancel(session)
    end(bob, own_model, session, prompt)
    assert bob.end() == 0
    bob.assert_clean()


def test_while_it_waits_in_the_queue(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """A waiting turn can be cancelled, and is answered at once, though another runs; the others are unharmed."""
    running, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    first = bob.prompt(running, "one")
    call = model.next()
    second = bob.prompt(other, "two")
    third = bob.prompt(running, "three")
    ask(bob, other, second)
    assert bob.answer(second, promised_s())["result"] == CANCELLED
    assert not bob.answers(first)
    call.text("1").finish()
    assert bob.answer(first)["result"] == {"stopReason": "end_turn"}
    call = model.next()
    assert call.messages[-1]["content"] == "three"
    call.finish()
    assert bob.answer(third)["result"] == {"stopReason": "end_turn"}
    assert bob.updates(other) == []
    after = bob.prompt(other, "two again")
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["two again"]
    call.finish()
    bob.answer(after)


def test_a_session_with_several_turns(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """session/cancel ends every turn of that session that was sent before it, and none sent after it."""
    session, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    prompts = [bob.prompt(session, f"before {number}") for number in range(3)]
    call = model.next()
    unharmed = bob.prompt(other, "other")
    bob.cancel(session)
    after = bob.prompt(session, "after")
    call.wait_gone()
    for prompt in prompts:
        assert bob.answer(prompt, promised_s())["result"] == CANCELLED
    for prompt, text in ((unharmed, "other"), (after, "after")):
        call = model.next()
        assert call.messages[1:] == [{"role": "user", "content": text}]
        call.finish()
        assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_one_of_several_turns_by_its_id(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """`$/cancel_request` names one prompt: the running one goes on when a waiting one is cancelled, and vice versa."""
    session = bob.new_session(tmp_path)
    first, second, third = (bob.prompt(session, text, id_=f"id {text}") for text in ("one", "two", "three"))
    call = model.next().text("1")
    bob.until(lambda message: message.get("method") == "session/update")
    bob.notify("$/cancel_request", {"requestId": second})
    assert bob.answer(second, promised_s())["result"] == CANCELLED
    bob.notify("$/cancel_request", {"requestId": first})
    assert bob.answer(first, promised_s())["result"] == CANCELLED
    call.wait_gone()
    call = model.next()
    assert [one["content"] for one in call.messages[1:]] == ["one", "1", "three"]
    call.finish()
    assert bob.answer(third)["result"] == {"stopReason": "end_turn"}


def test_just_after_the_end(bob: Agent, model: ModelServer, tmp_path: Path, ask: Ask) -> None:
    """R-161, R1, R2: a cancel that comes too late is ignored and never touches the next turn."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    model.next().text("done").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    ask(bob, session, prompt)
    after = bob.prompt(session, "next")
    call = model.next()
    bob.barrier()
    call.text("mine").finish()
    assert bob.answer(after)["result"] == {"stopReason": "end_turn"}
    assert len(bob.answers(prompt)) == 1


@pytest.mark.parametrize(
    "target",
    [
        {"method": "session/cancel", "params": {"sessionId": "no such session"}},
        {"method": "session/cancel", "params": {}},
        {"method": "session/cancel"},
        {"method": "session/cancel", "params": [1]},
        {"method": "session/cancel", "params": {"sessionId": 7}},
        {"method": "$/cancel_request", "params": {"requestId": 987654}},
        {"method": "$/cancel_request", "params": {"requestId": "987654"}},
        {"method": "$/cancel_request", "params": {"requestId": None}},
        {"method": "$/cancel_request", "params": {"requestId": True}},
        {"method": "$/cancel_request", "params": {"requestId": [1]}},
        {"method": "$/cancel_request", "params": {}},
        {"method": "$/cancel_request"},
    ],
)
def test_a_cancel_of_something_else(bob: Agent, model: ModelServer, tmp_path: Path, target: Message) -> None:
    """R-160, B122: an unknown session, an unknown id, an id of another type, malformed params: nothing happens."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi", id_=1 if not bob.answers(1) else None)
    call = model.next().text("a")
    seen = len(bob.messages)
    bob.send({"jsonrpc": "2.0", **target})
    bob.barrier()
    assert not any("error" in message and message["id"] is None for message in bob.messages[seen:])
    call.text("b").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session) == "ab"


def test_of_an_id_of_another_type(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """B122: "7" is not 7."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi", id_="4711")
    call = model.next()
    bob.notify("$/cancel_request", {"requestId": 4711})
    bob.barrier()
    call.finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_in_another_session(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The wrong session: the running turn goes on."""
    session, other = bob.new_session(tmp_path), bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    call = model.next()
    bob.cancel(other)
    bob.barrier()
    call.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize("end_with", ["text", "failure", "tool"])
def test_in_a_race_with_the_end(bob: Agent, model: ModelServer, tmp_path: Path, end_with: str) -> None:
    """Whoever wins, there is one answer, it is `cancelled` or the turn's own, and the next turn is untouched."""
    session = bob.new_session(tmp_path)

    def finish(call: ModelCall) -> None:
        if end_with == "text":
            call.finish()
        elif end_with == "failure":
            call.refuse("500 Internal Server Error", {})
        else:
            call.tool("bash", {"command": "true"}).finish("tool_calls")

    prompt = bob.prompt(session, "hi", id_=f"race {end_with}")
    call = model.next()
    # The end of the model's answer and the cancel are on two ways to the agent: either may be first.
    finish(call)
    bob.cancel(session)
    if end_with == "tool":
        for message in bob.messages:
            if message.get("method") == "session/request_permission":
                bob.choose(message, "cancelled")
    answer = bob.answer(prompt, promised_s())
    if "result" in answer:
        assert answer["result"]["stopReason"] in {"cancelled", "end_turn"}
    else:
        assert end_with == "failure"
        assert answer["error"]["code"] == -32603
    while model.is_asked():
        pass
    after = bob.prompt(session, "next")
    call = model.next()
    assert_valid_history(call.messages)
    call.finish()
    assert bob.answer(after)["result"] == {"stopReason": "end_turn"}
