"""Conversations that get shorter: /compact, the threshold, and a context that is too small."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_sessions import (
    SESSIONS,
    load,
    log_line,
    log_lines,
    model_config,
    next_call,
    only_text,
    run_command,
    said,
    stored,
    stored_texts,
    talk,
    usage,
    work,
)
from model_server import ModelCall, ModelServer
from raw_client import Agent

TOO_LONG = {
    "error": {
        "message": "This model's maximum context length is 10 tokens.",
        "code": "context_length_exceeded",
    }
}
COMPRESSED = re.compile(
    r"🗜️ compressed (\d+) messages → 1 summary \+ (\d+) kept \((\d+) → (\d+) tokens, \d+\.\ds\)"
)


def is_summary_request(call: ModelCall) -> bool:
    """The model is asked for a summary: one transcript, no tools."""
    assert [one["role"] for one in call.messages] == ["system", "user"]
    return "tools" not in call.body and "compress" in call.messages[0]["content"].lower()


def compact(
    bob: Agent, model: ModelServer, session: str, summary: str = "In short: talk."
) -> tuple[str, ModelCall]:
    """A /compact that succeeds: the chunk, and the request."""
    since = len(bob.messages)
    prompt = bob.prompt(session, "/compact")
    call = next_call(model)
    assert is_summary_request(call)
    call.text(summary).finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    return only_text(bob, session, since), call


def talks(
    bob: Agent, model: ModelServer, session: str, count: int, start: int = 0, tokens: int = 1000
) -> None:
    for number in range(start, start + count):
        talk(bob, model, session, f"q{number}", f"a{number} " + "x" * 100, tokens=tokens)


@pytest.fixture
def bob_who(start: Callable[..., Agent], own_model: ModelServer) -> Callable[[str], Agent]:
    """An initialised agent with settings."""

    def begin(settings: str) -> Agent:
        bob = start(model_config(own_model, settings))
        bob.initialize()
        return bob

    return begin


# -- /compact


def test_compact_puts_a_summary_in_the_place_of_older_turns(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Chunk and log line word for word; the last turns stay as they are; the next request is valid."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 2)
    work(bob, model, session, "bash", {"command": "echo out"}, permit="allow")
    talks(bob, model, session, 1, start=3)
    line, request = compact(bob, model, session)
    match = COMPRESSED.fullmatch(line)
    assert match
    assert [int(number) for number in match.groups()[:3]] == [4, 6, 1000]
    assert int(match[4]) < 1000
    log_line(bob, f"session {session}: /compact — {line}")
    transcript = request.messages[1]["content"]
    assert all(text in transcript for text in ("q0", "a0", "q1", "a1"))
    assert "echo out" not in transcript
    assert "q3" not in transcript
    after = talk(bob, model, session, "next")
    assert [role for role, _ in said(after)] == [
        *("user", "user", "assistant", "tool", "assistant"),
        *("user", "assistant", "user"),
    ]
    assert said(after)[0] == ("user", "In short: talk.")
    assert said(after)[1][1] == "go"
    assert said(after)[-1][1] == "next"


def test_the_threshold_does_not_matter_to_compact(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Forced; `keepLastTurns` is honoured."""
    bob = bob_who("[context]\nthreshold = 1000000\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 3)
    line, _ = compact(bob, own_model, session)
    assert line.startswith("🗜️ compressed 4 messages → 1 summary + 2 kept (")
    assert [text for _, text in said(talk(bob, own_model, session))][1] == "q2"


def test_no_turn_at_all_need_be_kept(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Zero is a number of turns too: everything becomes the summary."""
    bob = bob_who("[context]\nkeepLastTurns = 0\n")
    session = bob.new_session(tmp_path)
    assert (
        run_command(bob, session, "/compact")
        == "🗜️ nothing to compact: 0 message(s), no turn older than the last 0"
    )
    talks(bob, own_model, session, 2)
    line, _ = compact(bob, own_model, session)
    assert line.startswith("🗜️ compressed 4 messages → 1 summary + 0 kept (")
    # A summary alone is not compressed again.
    assert (
        run_command(bob, session, "/compact")
        == "🗜️ nothing to compact: 1 message(s), no turn older than the last 0"
    )
    assert said(talk(bob, own_model, session, "next")) == [("user", "In short: talk."), ("user", "next")]


def test_there_may_be_nothing_to_compact(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """The model is not asked, the history unchanged; the counts are those of the moment."""
    session = bob.new_session(tmp_path)
    for count in (0, 2, 4):
        line = f"🗜️ nothing to compact: {count} message(s), no turn older than the last 2"
        assert run_command(bob, session, "/compact") == line
        log_line(bob, f"session {session}: /compact — {line}")
        assert not model.is_asked()
        assert len(said(talk(bob, model, session))) == count + 1


def test_a_second_summary_absorbs_the_first(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """What the first one said is in the second one's transcript, and nowhere else any more."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 3)
    compact(bob, model, session, "first summary")
    talks(bob, model, session, 1, start=3)
    line, request = compact(bob, model, session, "second summary")
    assert line.startswith("🗜️ compressed 3 messages → 1 summary + 4 kept (")
    assert "first summary" in request.messages[1]["content"]
    texts = [text for _, text in said(talk(bob, model, session))]
    assert texts[0] == "second summary"
    assert "first summary" not in texts


def breaks(call: ModelCall) -> None:
    call.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n")
    call.text("half a summary").hang_up()


FAILURES: dict[str, tuple[Callable[[ModelCall], None], str]] = {
    "an error of the server": (
        lambda call: call.refuse("500 Oops", {"error": {"message": "it burns"}}),
        "it burns",
    ),
    "no access": (lambda call: call.refuse("401 No", {"error": {"message": "bad key"}}), "bad key"),
    "a broken connection": (breaks, "the model server"),
    "no text": (lambda call: call.finish(), "the model wrote no summary"),
    "white space": (lambda call: call.text(" \n ").finish(), "the model wrote no summary"),
    "a refusal": (
        lambda call: call.text("I").finish("content_filter"),
        "the model declined to write a summary",
    ),
    "a tool call": (
        lambda call: call.tool("bash", {"command": "true"}).finish("tool_calls"),
        "the model wrote no summary",
    ),
}


@pytest.mark.parametrize(("fails", "why"), FAILURES.values(), ids=FAILURES)
def test_a_summary_that_fails_changes_nothing(
    bob: Agent, model: ModelServer, tmp_path: Path, fails: Callable[[ModelCall], None], why: str
) -> None:
    """`[compact: failed, history kept: <explanation>]`, an ordinary end of the turn, the log line likewise."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 3)
    since = len(bob.messages)
    prompt = bob.prompt(session, "/compact")
    fails(next_call(model))
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    line = only_text(bob, session, since)
    assert re.fullmatch(r"\[compact: failed, history kept: [^\n]+\]", line)
    assert why in line
    log_line(bob, f"session {session}: /compact — {line}")
    assert [text.split()[0] for _, text in said(talk(bob, model, session, "q3"))] == [
        *("q0", "a0", "q1", "a1", "q2", "a2", "q3"),
    ]


def test_the_token_count_is_forgotten_only_with_the_history(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """A /compact that fails leaves the count, so that the next prompt tries again; one that succeeds does not."""
    bob = bob_who("[context]\nthreshold = 10\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 1, tokens=5)
    talks(bob, own_model, session, 1, start=1)
    prompt = bob.prompt(session, "/compact")
    next_call(own_model).finish()
    bob.answer(prompt)
    prompt = bob.prompt(session, "q2")
    request = next_call(own_model)
    assert is_summary_request(request)  # the count is still there
    request.hang_up()
    call = next_call(own_model).text("a2")
    usage(call, 1000)
    call.finish()
    bob.answer(prompt)
    compact(bob, own_model, session)
    assert len(said(talk(bob, own_model, session, "q3"))) == 4  # asked at once: the count is gone


def test_a_running_compact_can_be_cancelled(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """`cancelled`; the request to the model is given up at once; the history is as it was, and nothing is said."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 3)
    since = len(bob.messages)
    prompt = bob.prompt(session, "/compact")
    call = next_call(model)
    call.text("half a summ")
    bob.cancel(session)
    assert bob.answer(prompt)["result"] == {"stopReason": "cancelled"}
    call.wait_gone()
    assert bob.updates(session, since) == []
    assert len(said(talk(bob, model, session, "q3"))) == 7


def test_the_end_of_the_input_ends_a_running_compact(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Gone in time, and the session file is as it was."""
    bob = start(model_config(own_model, SESSIONS))
    bob.initialize()
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 3)
    before = stored(tmp_path, session)["messages"]
    bob.prompt(session, "/compact")
    call = next_call(own_model)
    assert bob.end() == 0
    call.wait_gone()
    assert stored(tmp_path, session)["messages"] == before


def test_a_summary_is_marked_in_what_is_stored_and_not_in_what_is_sent(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """A user-role message marked as such; a load shows it as the agent's, and it is no turn of the user's after it."""
    bob = start(model_config(own_model, SESSIONS + "[context]\nkeepLastTurns = 1\n"))
    bob.initialize()
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 3)
    compact(bob, own_model, session)
    messages = stored(tmp_path, session)["messages"]
    assert messages[1] == {"role": "user", "content": "In short: talk.", "summary": True}
    assert all("summary" not in one for one in messages[2:])
    since = len(bob.messages)
    assert load(bob, session, tmp_path)["result"] == {}
    texts = [(one["sessionUpdate"], one["content"]["text"][:8]) for one in bob.updates(session, since)]
    assert texts == [
        ("agent_message_chunk", "🗜️ In sh"),
        ("user_message_chunk", "q2"),
        ("agent_message_chunk", "a2 xxxxx"),
    ]
    assert (
        run_command(bob, session, "/compact")
        == "🗜️ nothing to compact: 3 message(s), no turn older than the last 1"
    )


# -- by itself


def test_above_the_threshold_the_next_prompt_compresses_first(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """It is logged, the user is told nothing, and the turn goes on with the shorter history; once."""
    bob = bob_who("[context]\nthreshold = 100\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 2, tokens=100)  # not above
    talks(bob, own_model, session, 1, start=2, tokens=101)
    since = len(bob.messages)
    prompt = bob.prompt(session, "q3")
    request = next_call(own_model)
    assert is_summary_request(request)
    assert "q2" not in request.messages[1]["content"]
    request.text("short").finish()
    call = next_call(own_model)
    assert [text.split()[0] for _, text in said(call)] == ["short", "q2", "a2", "q3"]
    call.text("ok").finish()
    bob.answer(prompt)
    assert only_text(bob, session, since) == "ok"
    lines = [line for line in log_lines(bob, session) if "automatic" in line]
    assert len(lines) == 1
    assert COMPRESSED.search(lines[0])
    assert len(said(talk(bob, own_model, session, "q4"))) == 6  # the count was forgotten


@pytest.mark.parametrize("settings", ["", "[context]\nthreshold = 0\n"], ids=["no threshold", "0"])
def test_without_a_threshold_nothing_happens_by_itself(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path, settings: str
) -> None:
    """Off: any number of tokens is sent on."""
    bob = bob_who(settings)
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 4, tokens=10**9)
    assert len(said(talk(bob, own_model, session))) == 9
    assert not any("compact" in line for line in log_lines(bob, session))


def test_a_server_that_counts_nothing_sets_nothing_off(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """No usage, no threshold."""
    bob = bob_who("[context]\nthreshold = 1\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    for count in range(4):
        assert len(said(talk(bob, own_model, session))) == 2 * count + 1


def test_if_the_summary_fails_the_turn_runs_on_the_full_history(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """The user gets the answer; the log says what went wrong; the next prompt tries again."""
    bob = bob_who("[context]\nthreshold = 100\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 2, tokens=5)
    talks(bob, own_model, session, 1, start=2)
    for number in (3, 4):
        since = len(bob.messages)
        prompt = bob.prompt(session, f"q{number}")
        request = next_call(own_model)
        assert is_summary_request(request)
        request.refuse("500 Oops", {"error": {"message": "it burns"}})
        call = next_call(own_model)
        assert len(said(call)) == 2 * number + 1
        usage(call.text("ok"), 1000)
        call.finish()
        assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
        assert only_text(bob, session, since) == "ok"
    failed = [line for line in log_lines(bob, session) if "[compact: failed, history kept: " in line]
    assert len(failed) == 2
    assert all("it burns" in line for line in failed)


def test_a_turn_that_fails_after_it_compressed_has_forgotten_the_count(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """The history is another one, so the old count says nothing of it: the next prompt is asked at once."""
    bob = bob_who("[context]\nthreshold = 100\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 2, tokens=5)
    talks(bob, own_model, session, 1, start=2)
    prompt = bob.prompt(session, "q3")
    next_call(own_model).text("short").finish()
    next_call(own_model).refuse("500 Oops", {"error": {"message": "it burns"}})
    assert "error" in bob.answer(prompt)
    assert said(talk(bob, own_model, session, "q4"))[0] == ("user", "short")
    assert sum("automatic compaction" in line for line in log_lines(bob, session)) == 1


def test_an_automatic_compaction_can_be_cancelled(
    bob_who: Callable[[str], Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """It is part of the turn; the question that was never asked leaves no trace."""
    bob = bob_who("[context]\nthreshold = 100\nkeepLastTurns = 1\n")
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 2, tokens=5)
    talks(bob, own_model, session, 1, start=2)
    prompt = bob.prompt(session, "never asked")
    request = next_call(own_model)
    bob.cancel(session)
    assert bob.answer(prompt)["result"] == {"stopReason": "cancelled"}
    request.wait_gone()
    prompt = bob.prompt(session, "next")
    next_call(own_model).text("short").finish()  # it is as due as before
    call = next_call(own_model)
    assert [text.split()[0] for _, text in said(call)] == ["short", "q2", "a2", "next"]
    call.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


# -- a context that is too small


def test_an_overflow_brings_one_compaction_and_one_retry(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """The user sees the answer alone; the retry has the summary and the last turns, the new one among them."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 4)
    since = len(bob.messages)
    prompt = bob.prompt(session, "q4")
    call = next_call(model)
    assert len(said(call)) == 9
    call.refuse("400 Bad Request", TOO_LONG)
    request = next_call(model)
    assert is_summary_request(request)
    request.text("short").finish()
    retry = next_call(model)
    assert [text.split()[0] for _, text in said(retry)] == ["short", "q3", "a3", "q4"]
    retry.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert only_text(bob, session, since) == "ok"
    assert any(COMPRESSED.search(line) for line in log_lines(bob, session))
    assert len(said(talk(bob, model, session, "q5"))) == 6


def test_an_overflow_after_the_retry_is_a_clear_failure(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """One compaction, one retry, no more; the sentence says what is wrong; the session lives on, shorter."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 4)
    prompt = bob.prompt(session, "q4")
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    next_call(model).text("short").finish()
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    error = bob.answer(prompt)["error"]
    assert error["code"] == -32603
    assert error["message"].startswith('error: the conversation is too long for the context of "m"')
    assert not model.is_asked()
    assert [text.split()[0] for _, text in said(talk(bob, model, session, "q5"))] == [
        "short",
        "q3",
        "a3",
        "q5",
    ]


def test_a_turn_compresses_once_however_often_it_overflows(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """The retry works, a tool runs, and then the context is too small again: a failure, not another summary."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 4)
    prompt = bob.prompt(session, "go")
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    next_call(model).text("short").finish()
    next_call(model).tool("bash", {"command": "true"}).finish("tool_calls")
    bob.choose(bob.permission())
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    assert "too long for the context" in bob.answer(prompt)["error"]["message"]
    assert not model.is_asked()


def test_an_overflow_with_nothing_to_leave_out_is_a_clear_failure(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """The first turn of a conversation has nothing older: it fails without asking for a summary."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "q")
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    assert "too long for the context" in bob.answer(prompt)["error"]["message"]
    assert not model.is_asked()
    assert said(talk(bob, model, session, "next")) == [("user", "next")]


def test_turns_that_were_to_be_kept_make_room_if_nothing_else_can(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """With fewer turns than keepLastTurns all but the open one are compressed: else the turn could never run."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 1)
    prompt = bob.prompt(session, "q1")
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    next_call(model).text("short").finish()
    retry = next_call(model)
    assert said(retry) == [("user", "short"), ("user", "q1")]
    retry.text("ok").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_an_overflow_whose_summary_fails_is_a_failure_at_once(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """One compaction: no second one with fewer turns; the history is kept whole."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 4)
    prompt = bob.prompt(session, "q4")
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    next_call(model).refuse("500 Oops", {"error": {"message": "it burns"}})
    assert "too long for the context" in bob.answer(prompt)["error"]["message"]
    assert not model.is_asked()
    assert len(said(talk(bob, model, session, "q5"))) == 9


def test_an_overflow_in_the_middle_of_a_turn_keeps_that_turn_whole(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Calls and results of the open turn stay together, behind the summary."""
    session = bob.new_session(tmp_path)
    talks(bob, model, session, 3)
    prompt = bob.prompt(session, "go")
    next_call(model).text("I look.").tool("bash", {"command": "echo out"}).finish("tool_calls")
    bob.choose(bob.permission())
    next_call(model).refuse("400 Bad Request", TOO_LONG)
    request = next_call(model)
    assert is_summary_request(request)
    assert "I look." not in request.messages[1]["content"]
    request.text("short").finish()
    retry = next_call(model)
    assert [role for role, _ in said(retry)] == ["user", "user", "assistant", "user", "assistant", "tool"]
    retry.text("done").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_what_is_compressed_is_on_disk(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """Rewritten after /compact, and after a turn that compressed."""
    bob = start(model_config(own_model, SESSIONS + "[context]\nkeepLastTurns = 1\n"))
    bob.initialize()
    session = bob.new_session(tmp_path)
    talks(bob, own_model, session, 2)
    compact(bob, own_model, session, "one")
    assert stored_texts(tmp_path, session)[0] == ("user", "one")
    prompt = bob.prompt(session, "q2")
    next_call(own_model).refuse("400 Bad Request", TOO_LONG)
    next_call(own_model).text("two").finish()
    next_call(own_model).text("ok").finish()
    bob.answer(prompt)
    assert stored_texts(tmp_path, session) == [("user", "two"), ("user", "q2"), ("assistant", "ok")]
