"""OpenAIModel over real HTTP on loopback: the quirks of servers in the field, each as a kind."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from acp_agent.llm.client import OpenAIModel, Timeouts
from acp_agent.llm.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelBadAnswer,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelServerFailed,
    ModelTimeout,
    ModelUnreachable,
)
from acp_agent.llm.model import Finished, FinishReason, TextDelta, ToolCallReady, Usage
from acp_agent.llm.payload import Sampling
from acp_agent.llm.retry import RetryPolicy

Ask = Callable[..., Any]
KEY = "sk-very-secret-0123456789"
PATIENT = Timeouts(1000, 1000)
HELLO = [{"role": "user", "content": "hello"}]


def last(asked: Any) -> Finished:
    """The one Finished, which is the last event."""
    assert asked.error is None, asked.error
    assert [isinstance(event, Finished) for event in asked.events].count(True) == 1
    assert isinstance(asked.events[-1], Finished)
    return asked.events[-1]


# Tool calls


@pytest.mark.parametrize(
    "chunks",
    [
        [
            [
                {"function": {"name": "bash", "arguments": '{"a":1}'}},
                {"function": {"name": "read_file", "arguments": '{"b":2}'}},
            ]
        ],
        [
            [{"id": "x", "function": {"name": "bash", "arguments": '{"a"'}}],
            [{"id": "x", "function": {"arguments": ":1}"}}],
            [{"id": "y", "function": {"name": "read_file", "arguments": '{"b":2}'}}],
        ],
        [
            [{"index": 0, "id": "x", "function": {"name": "bash", "arguments": '{"a":1}'}}],
            [{"index": 0, "id": "y", "function": {"name": "read_file", "arguments": '{"b"'}}],
            [{"index": 0, "function": {"arguments": ":2}"}}],
        ],
        [
            [{"index": 0, "function": {"name": "bash", "arguments": '{"a":1}'}}],
            [{"index": 0, "function": {"name": "read_file", "arguments": '{"b":2}'}}],
        ],
    ],
    ids=[
        "no index, one delta",
        "no index, different ids",
        "index always 0, new id",
        "index always 0, no ids",
    ],
)
def test_two_calls_stay_two_whatever_the_index_says(ask: Ask, wire: Any, chunks: list[Any]) -> None:
    """B201, B202: index missing, or 0 for every call."""
    asked = ask(wire.http(wire.sse(*[wire.calls(*pieces) for pieces in chunks], wire.finish("tool_calls"))))
    assert last(asked).reason is FinishReason.TOOL_CALLS
    assert asked.calls == [("bash", '{"a":1}'), ("read_file", '{"b":2}')]
    ids = [event.id for event in asked.events if isinstance(event, ToolCallReady)]
    assert len(set(ids)) == 2
    assert all(ids)


@pytest.mark.parametrize(
    "pieces",
    [
        [{"index": 0, "id": "x", "function": {"name": "bash", "arguments": ""}}],
        [{"index": 0, "id": "x", "function": {"name": "bash"}}],
        [{"index": 0, "id": "x", "function": {"name": "bash", "arguments": None}}],
        [{"index": 0, "id": "x", "function": {"name": "bash", "arguments": {}}}],
        [{"index": 0, "id": "x", "function": {"name": "bash", "arguments": "null"}}],
    ],
    ids=["empty", "absent", "null", "object", "text null"],
)
def test_a_call_without_arguments_is_a_call_with_an_empty_object(
    ask: Ask, wire: Any, pieces: list[Any]
) -> None:
    """B204: never dropped."""
    asked = ask(wire.http(wire.sse(wire.calls(*pieces), wire.finish("tool_calls"))))
    assert asked.calls == [("bash", "{}")]


def test_arguments_before_the_name_and_a_name_in_pieces_are_put_together(ask: Ask, wire: Any) -> None:
    """B206."""
    late = (
        [{"index": 0, "id": "x", "function": {"arguments": '{"p"'}}],
        [{"index": 0, "function": {"name": "read_file"}}],
    )
    rest = [{"index": 0, "function": {"arguments": ':"a"}'}}]
    asked = ask(wire.http(wire.sse(*[wire.calls(*one) for one in (*late, rest)], wire.finish("tool_calls"))))
    assert asked.calls == [("read_file", '{"p":"a"}')]
    pieces = (
        [{"index": 0, "id": "x", "function": {"name": "read"}}],
        [{"index": 0, "function": {"name": "_file"}}],
    )
    asked = ask(
        wire.http(wire.sse(*[wire.calls(*one) for one in (*pieces, rest)], wire.finish("tool_calls")))
    )
    assert asked.calls == [("read_file", ':"a"}')]


@pytest.mark.parametrize(
    "reason", ["stop", None, "", "end_turn", "function_call", "tool_calls", "tool_use", "STOP", 7]
)
def test_calls_run_whatever_the_finish_reason_is(ask: Ask, wire: Any, reason: object) -> None:
    """B207."""
    call = {"index": 0, "id": "x", "function": {"name": "bash", "arguments": "{}"}}
    asked = ask(wire.http(wire.sse(wire.calls(call), wire.finish(reason))))
    assert asked.calls == [("bash", "{}")]
    assert last(asked).reason is FinishReason.TOOL_CALLS


def test_a_legacy_function_call_is_a_call(ask: Ask, wire: Any) -> None:
    """B207, B221: the form before tools."""
    chunks = [
        {"choices": [{"delta": {"function_call": {"name": "bash", "arguments": '{"command":'}}}]},
        {"choices": [{"delta": {"function_call": {"arguments": '"ls"}'}}, "finish_reason": "function_call"}]},
    ]
    asked = ask(wire.http(wire.sse(*chunks)))
    assert asked.calls == [("bash", '{"command":"ls"}')]


def test_ids_used_before_in_the_conversation_are_given_anew(ask: Ask, wire: Any) -> None:
    """B201: a server that numbers the calls of each answer from the same start."""
    earlier = {"id": "call_0", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": "call_0", "content": "x"},
    ]
    call = {"index": 0, "id": "call_0", "function": {"name": "bash", "arguments": "{}"}}
    asked = ask(wire.http(wire.sse(wire.calls(call), wire.finish("tool_calls"))), messages=messages)
    (ready,) = [event for event in asked.events if isinstance(event, ToolCallReady)]
    assert ready.id not in ("", "call_0")


def test_a_half_call_at_the_token_limit_is_not_given_out(ask: Ask, wire: Any) -> None:
    """B222: neither the half call nor the whole ones before it."""
    whole = {"index": 0, "id": "x", "function": {"name": "bash", "arguments": "{}"}}
    half = {"index": 1, "id": "y", "function": {"name": "bash", "arguments": '{"comm'}}
    asked = ask(wire.http(wire.sse(wire.text("I"), wire.calls(whole, half), wire.finish("length"))))
    assert asked.calls == []
    assert last(asked).reason is FinishReason.LENGTH
    assert asked.text == "I"


def test_tool_markup_in_the_text_stays_text(ask: Ask, wire: Any) -> None:
    """B221: closed or not."""
    for markup in ('<tool_call>{"name":"bash"}', '<tool_call>{"name":"bash"}</tool_call>', "<think>hm"):
        asked = ask(wire.http(wire.sse(wire.text(markup), wire.finish("stop"))))
        assert asked.text == markup
        assert last(asked).reason is FinishReason.STOP


def test_a_malformed_call_of_the_past_is_sent_as_an_empty_object(ask: Ask, wire: Any) -> None:
    """B221: the next request is valid, and the caller's history is as it was."""
    broken = {
        "id": "a",
        "type": "function",
        "function": {"name": "functions.bash", "arguments": '{"command": '},
    }
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [broken]},
        {"role": "tool", "tool_call_id": "a", "content": "malformed"},
    ]
    before = json.dumps(messages)
    asked = ask(wire.http(wire.sse(wire.text("ok"))), messages=messages)
    (sent,) = asked.server.requests[0].body["messages"][1]["tool_calls"]
    assert sent["function"] == {"name": "functions_bash", "arguments": "{}"}
    assert json.dumps(messages) == before


# Chunks and how a stream ends


def test_chunks_without_choices_and_usage_anywhere_are_taken(ask: Ask, wire: Any) -> None:
    """B209: first, middle, last, beside content, twice, null."""
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    asked = ask(
        wire.http(
            wire.sse(
                {"choices": [], "usage": None},
                {"id": "x"},
                {"choices": None},
                {"choices": [{"delta": None}]},
                {"choices": [{}]},
                {**wire.text("a"), "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
                {"choices": []},
                wire.text("b"),
                wire.finish("stop"),
                {"choices": [], "usage": usage},
                {"usage": None},
            )
        )
    )
    assert asked.text == "ab"
    assert last(asked).usage == Usage(3, 4)


@pytest.mark.parametrize(
    "between",
    [
        ": ping\n\n",
        ": OPENROUTER PROCESSING\n\n",
        "data:\n\n",
        "data: \n\n",
        "\n\n\n",
        "event: ping\n\n",
        "id: 7\n\n",
        "retry: 100\n\n",
        "data: : ping\n\n",
        "event: message\nid: 1\n",
        "data: : x\n",
        "unknown: field\n\n",
        "data: ping\n\n",
    ],
)
def test_what_is_between_the_events_does_not_matter(ask: Ask, wire: Any, between: str) -> None:
    """B212: comments, empty data, other fields, comments a proxy wrapped."""
    chunks = [wire.text("a"), wire.text("b"), wire.finish("stop")]
    mixed = [one for chunk in chunks for one in (between, chunk)]
    asked = ask(wire.http(wire.sse(*mixed, between)))
    assert asked.text == "ab"
    assert last(asked).reason is FinishReason.STOP


def test_an_answer_written_byte_by_byte_is_the_same(ask: Ask, wire: Any) -> None:
    """B214: characters of four bytes, combining marks, CRLF line ends, no space after the colon."""
    text = "a🙂é日本e\u0301\u2028🏳️‍🌈"
    chunk = json.dumps(wire.text(text), ensure_ascii=False)
    body = f"data:{chunk}\r\n\r\ndata: {chunk}\r\n\r\ndata: [DONE]\r\n\r\n".encode()

    async def bytewise(exchange: Any) -> None:
        for byte in wire.http(body):
            await exchange.say(bytes([byte]))
            await asyncio.sleep(0)

    asked = ask(bytewise)
    assert asked.text == text + text
    assert last(asked).reason is FinishReason.STOP


@pytest.mark.parametrize("escaped", [r'"\ud83d"', r'"x\ud83d"'])
def test_a_character_in_two_escapes_in_two_chunks_is_one_character(ask: Ask, wire: Any, escaped: str) -> None:
    """B214: never half a character, which could not be written as UTF-8."""
    one, other = (
        f'data: {{"choices":[{{"delta":{{"content":{text}}}}}]}}\n\n' for text in (escaped, r'"\ude42"')
    )
    asked = ask(wire.http(wire.sse(one, other)))
    assert asked.text == json.loads(escaped)[:-1] + "🙂"
    asked = ask(wire.http(wire.sse(one)))
    assert asked.text == json.loads(escaped)[:-1] + "\ufffd"


@pytest.mark.parametrize("reason", [None, "", "stop", "eos", "unknown_word"])
def test_a_whole_text_without_a_proper_finish_reason_is_finished(ask: Ask, wire: Any, reason: object) -> None:
    """B216."""
    asked = ask(wire.http(wire.sse(wire.text("a"), wire.finish(reason))))
    assert last(asked) == Finished(FinishReason.STOP, None)


def test_a_clean_end_after_text_counts_as_finished(ask: Ask, wire: Any) -> None:
    """B216: neither [DONE] nor finish reason; the last event has no blank line."""
    asked = ask(wire.http(wire.sse(wire.text("a"), wire.text("b"), done=False).rstrip()))
    assert asked.text == "ab"
    assert last(asked).reason is FinishReason.STOP


def test_a_clean_end_inside_a_call_is_an_error(ask: Ask, wire: Any) -> None:
    """A plan whose end is missing is not run."""
    half = {"index": 0, "id": "y", "function": {"name": "bash", "arguments": '{"comm'}}
    asked = ask(wire.http(wire.sse(wire.text("a"), wire.calls(half), done=False)))
    assert isinstance(asked.error, ModelBadAnswer)
    assert "in the middle of a tool call" in str(asked.error)
    assert asked.text == "a"


def test_a_connection_that_breaks_in_the_answer_is_an_error_after_its_text(ask: Ask, wire: Any) -> None:
    """The text was given out; nothing is asked again."""
    asked = ask(wire.cut(wire.sse(wire.text("a"), done=False)), retries=3)
    assert asked.text == "a"
    assert isinstance(asked.error, ModelBadAnswer)
    assert "broke in the middle of the answer" in str(asked.error)
    assert len(asked.server.requests) == 1


def test_a_connection_that_breaks_after_the_finish_reason_is_finished(ask: Ask, wire: Any) -> None:
    """The answer is whole."""
    asked = ask(wire.cut(wire.sse(wire.text("a"), wire.finish("stop"), done=False)))
    assert last(asked).reason is FinishReason.STOP


def test_a_server_that_stays_silent_after_the_finish_reason_does_not_hold_the_answer(
    ask: Ask, wire: Any
) -> None:
    """No [DONE], no end of the body: the answer ends without waiting for the idle timeout."""

    async def reply(exchange: Any) -> None:
        await exchange.say(wire.endless(wire.sse(wire.text("a"), wire.finish("stop"), done=False)))
        await exchange.until_client_is_gone()

    assert last(ask(reply, idle_s=1000)).reason is FinishReason.STOP

    async def done_but_open(exchange: Any) -> None:
        await exchange.say(wire.endless(wire.sse(wire.text("a"))))
        await exchange.until_client_is_gone()

    assert last(ask(done_but_open, idle_s=1000)).reason is FinishReason.STOP


def test_an_empty_answer_is_an_error_but_an_empty_text_is_not(ask: Ask, wire: Any) -> None:
    """B219: nothing at all is a fault of the server; a model may say nothing."""
    asked = ask(wire.http(b""))
    assert isinstance(asked.error, ModelBadAnswer)
    assert "without an answer" in str(asked.error)
    asked = ask(wire.http(wire.sse(wire.finish("stop"))))
    assert asked.events == [Finished(FinishReason.STOP, None)]
    asked = ask(wire.http(wire.sse()))
    assert asked.events == [Finished(FinishReason.STOP, None)]


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning", "thinking"])
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_reasoning_alone_is_an_answer_of_reasoning(ask: Ask, wire: Any, member: str, reason: str) -> None:
    """B219: kept apart from the text, and finished as the server says."""
    chunk = {"choices": [{"delta": {member: "hm", "content": None}}]}
    asked = ask(wire.http(wire.sse(chunk, wire.finish(reason))))
    assert asked.reasoning == "hm"
    assert asked.text == ""
    assert last(asked).reason.value == reason


def test_content_as_parts_and_reasoning_as_parts_are_read(ask: Ask, wire: Any) -> None:
    """B219: the list form of some providers."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
    ]
    asked = ask(wire.http(wire.sse({"choices": [{"delta": {"content": parts}}]})))
    assert (asked.reasoning, asked.text) == ("hm", "a")


@pytest.mark.parametrize(
    ("word", "reason"), [("content_filter", "content_filter"), ("SAFETY", "content_filter")]
)
def test_a_filtered_answer_says_so(ask: Ask, wire: Any, word: str, reason: str) -> None:
    """B131: with the text that came, without calls."""
    call = {"index": 0, "id": "x", "function": {"name": "bash", "arguments": "{}"}}
    asked = ask(wire.http(wire.sse(wire.text("a"), wire.calls(call), wire.finish(word))))
    assert last(asked).reason.value == reason
    assert asked.calls == []


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain"])
def test_a_whole_json_answer_to_a_stream_request_is_read(ask: Ask, wire: Any, kind: str) -> None:
    """Some servers do not stream, whatever they call it."""
    call = {"id": "x", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    message = {"role": "assistant", "content": "a", "reasoning_content": "hm", "tool_calls": [call]}
    document = {
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    asked = ask(wire.http(b"\n " + json.dumps(document, indent=1).encode(), kind=kind))
    assert (asked.reasoning, asked.text, asked.calls) == ("hm", "a", [("bash", '{"command":"ls"}')])
    assert last(asked) == Finished(FinishReason.TOOL_CALLS, Usage(1, 2))


def test_a_final_message_that_repeats_the_deltas_is_not_said_twice(ask: Ask, wire: Any) -> None:
    """Deltas first, then the whole message."""
    whole = {"choices": [{"message": {"content": "ab"}, "finish_reason": "stop"}]}
    asked = ask(wire.http(wire.sse(wire.text("a"), wire.text("b"), whole)))
    assert asked.text == "ab"


def test_events_without_a_blank_line_between_them_are_several(ask: Ask, wire: Any) -> None:
    """B212: one line feed instead of two."""
    body = wire.sse(wire.text("a"), wire.text("b"), wire.finish("stop")).replace(b"\n\n", b"\n")
    assert ask(wire.http(body)).text == "ab"


def test_malformed_json_in_the_stream_is_an_error(ask: Ask, wire: Any) -> None:
    """A lost chunk could be half of a command."""
    asked = ask(wire.http(wire.sse(wire.text("a"), 'data: {"choices": [\n\n')))
    assert isinstance(asked.error, ModelBadAnswer)
    assert "malformed JSON" in str(asked.error)


def test_a_web_page_instead_of_an_answer_hints_at_the_address(ask: Ask, wire: Any) -> None:
    """A wrong baseUrl or a login page of the network."""
    asked = ask(wire.http(b"<!doctype html><title>Welcome</title>", kind="text/html"))
    assert isinstance(asked.error, ModelBadAnswer)
    assert "web page" in str(asked.error)
    assert "model.baseUrl" in str(asked.error)


def test_a_json_answer_that_is_no_completion_hints_at_the_address(ask: Ask, wire: Any) -> None:
    """Another service that answers 200 to everything."""
    for body in (b'{"message":"hello there"}', b'{"a": 1}'):
        asked = ask(wire.http(body, kind="application/json"))
        assert isinstance(asked.error, ModelBadAnswer)
        assert "something else than a chat completion" in str(asked.error)
        assert len(asked.server.requests) == 1


# Errors the server reports


@pytest.mark.parametrize(
    "body",
    [
        'error: {"code":400,"message":"the request exceeds the available context size","type":"x"}\n\ndata: [DONE]\n\n',
        'error: {"error":{"code":400,"message":"the request exceeds the available context size"}}\n\n',
        'event: error\ndata: {"message":"the request exceeds the available context size"}\n\n',
        'data: {"error":{"code":"context_length_exceeded","message":"too long"}}\n\n',
        'data: {"error":"the request exceeds the available context size"}\n\n',
        'data: {"error":{"code":400,"type":"exceed_context_size_error","message":"x","n_ctx":4096}}\n\n',
    ],
)
def test_an_overflow_inside_the_stream_is_recognised(ask: Ask, wire: Any, body: str) -> None:
    """B211: also in the `error:` line of older llama.cpp."""
    asked = ask(wire.http(body.encode()), retries=2)
    assert isinstance(asked.error, ContextOverflow)
    assert "too long" in str(asked.error)
    assert len(asked.server.requests) == 1


def test_an_error_after_text_ends_the_answer_with_the_servers_words(ask: Ask, wire: Any) -> None:
    """B131: nothing is asked again once text was given out."""
    asked = ask(
        wire.http(wire.sse(wire.text("a"), {"error": {"code": 502, "message": "upstream died"}})), retries=3
    )
    assert asked.text == "a"
    assert isinstance(asked.error, ModelServerFailed)
    assert "upstream died" in str(asked.error)
    assert len(asked.server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (
            "401 Unauthorized",
            {"error": {"message": "bad key"}},
            ModelAuthError,
            ["401", "bad key", "$MY_KEY"],
        ),
        ("403 Forbidden", {"detail": "not for you"}, ModelAuthError, ["403", "not for you", "$MY_KEY"]),
        (
            "404 Not Found",
            {"error": {"message": "model 'x' not found"}},
            ModelRefused,
            ["model.baseUrl", "model.name"],
        ),
        ("404 Not Found", "404 page not found", ModelRefused, ["404 page not found"]),
        ("400 Bad Request", {"error": {"message": "no policy"}}, ModelRefused, ["400", "no policy"]),
        ("422 Unprocessable", {"detail": [{"msg": "field required"}]}, ModelRefused, ["field required"]),
        (
            "429 Too Many",
            {"error": {"message": "slow down"}},
            ModelRateLimited,
            ["slow down", "wait a little"],
        ),
        ("429 Too Many", {"error": {"code": "insufficient_quota"}}, ModelRateLimited, ["no quota left"]),
        (
            "500 Oops",
            "cannot load the model\n" + "trace " * 10_000,
            ModelServerFailed,
            ["500", "cannot load the model"],
        ),
        (
            "502 Bad Gateway",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            ModelServerFailed,
            ["502"],
        ),
        ("503 Busy", "", ModelServerFailed, ["503"]),
        ("307 Redirect", "", ModelRefused, ["redirects", "https://elsewhere/"]),
        ("400 Bad Request", [{"error": {"message": "list of errors"}}], ModelRefused, ["list of errors"]),
        ("400 Bad Request", {"object": "error", "message": "old vLLM"}, ModelRefused, ["old vLLM"]),
        ("400 Bad Request", b"\xff\x1b[31mred\x00\r\nsecond", ModelRefused, ["red"]),
    ],
)
def test_a_refused_request_gives_one_line_a_person_can_act_on(
    ask: Ask, wire: Any, status: str, body: object, kind: type[ModelError], words: list[str]
) -> None:
    """B131, B224: the server's words reach the person, cut and cleaned."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    reply = wire.http(raw, status, "application/json", more="location: https://elsewhere/\r\n")
    asked = ask(reply, api_key=KEY, api_key_variable="MY_KEY")
    assert type(asked.error) is kind
    sentence = str(asked.error)
    assert all(word in sentence for word in words), sentence
    assert sentence.isprintable()
    assert len(sentence) < 600


@pytest.mark.parametrize("status", ["400 Bad Request", "413 Too Large", "500 Oops"])
@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size, try increasing it",
        "request (5000 tokens) exceeds n_ctx (4096)",
        "prompt is too long: 250000 tokens > 200000 maximum",
        "Please reduce the length of the messages or completion.",
        "Requested tokens exceed context window of 2048",
        "Input is too long for requested model",
        "The input token count exceeds the maximum tokens limit: exceeds the model token limit",
    ],
)
def test_an_overflow_is_recognised_in_its_spellings(ask: Ask, wire: Any, status: str, said: str) -> None:
    """B211: the caller can shorten the conversation, so it has to know."""
    asked = ask(wire.http(json.dumps({"error": {"message": said}}).encode(), status), retries=2)
    assert isinstance(asked.error, ContextOverflow)
    assert len(asked.server.requests) == 1


def test_a_server_that_does_not_take_stream_options_is_asked_without(ask: Ask, wire: Any) -> None:
    """Once, and remembered for the next question; no wait."""
    refusal = wire.http(
        b'{"error":{"message":"Unrecognized request argument: stream_options"}}', "400 Bad Request"
    )
    asked = ask(refusal, wire.http(wire.sse(wire.text("a"))), times=2)
    assert asked.text == "aa"
    assert ["stream_options" in exchange.body for exchange in asked.server.requests] == [True, False, False]
    assert asked.waits == []
    asked = ask(refusal)
    assert isinstance(asked.error, ModelRefused)
    assert len(asked.server.requests) == 2


def test_a_server_that_wants_max_completion_tokens_gets_them(ask: Ask, wire: Any) -> None:
    """Newer models refuse max_tokens and temperature."""
    refusals = [
        wire.http(
            b'{"error":{"message":"\'max_tokens\' is not supported. Use \'max_completion_tokens\'"}}',
            "400 Bad",
        ),
        wire.http(b'{"error":{"message":"\'temperature\' does not support 0.2"}}', "400 Bad"),
    ]
    asked = ask(*refusals, wire.http(wire.sse(wire.text("a"))), sampling=Sampling(0.2, 50))
    assert asked.text == "a"
    first, _, final = (exchange.body for exchange in asked.server.requests)
    assert (first["max_tokens"], first["temperature"]) == (50, 0.2)
    assert (final["max_completion_tokens"], "max_tokens" in final, "temperature" in final) == (
        50,
        False,
        False,
    )


# Asking again


@pytest.mark.parametrize(
    "status", ["429 Too Many", "500 Oops", "502 Bad", "503 Busy", "504 Late", "529 Overloaded"]
)
def test_a_passing_failure_is_asked_again_with_growing_waits(ask: Ask, wire: Any, status: str) -> None:
    """B217, B224: as often as allowed and no more."""
    asked = ask(
        wire.http(b"busy", status), wire.http(b"busy", status), wire.http(wire.sse(wire.text("a"))), retries=2
    )
    assert asked.text == "a"
    assert asked.waits == [0.5, 1.0]
    assert len(asked.notes) == 2
    assert "asking again in 0.5 s" in asked.notes[0]
    asked = ask(wire.http(b"busy", status), retries=2)
    assert isinstance(asked.error, ModelError)
    assert len(asked.server.requests) == 3


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "403 No", "404 No", "422 No", "501 No"])
def test_a_lasting_refusal_is_not_asked_again(ask: Ask, wire: Any, status: str) -> None:
    """The same request would be refused again."""
    asked = ask(wire.http(b"no", status), retries=5)
    assert len(asked.server.requests) == 1
    assert asked.waits == []


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("3", 3.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("99999", 60.0),
        ("Sun, 09 Sep 2001 01:46:47 GMT", 7.0),
        ("Sun, 09 Sep 2001 00:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 60.0),
        ("soon", 0.5),
        ("-5", 0.5),
        ("", 0.5),
    ],
)
@pytest.mark.parametrize("status", ["429 Too Many", "503 Busy"])
def test_retry_after_is_honoured_and_capped(
    ask: Ask, wire: Any, status: str, header: str, wait_s: float
) -> None:
    """B217: seconds or a date (the clock of the test stands at 2001-09-09 01:46:40)."""
    reply = wire.http(b"", status, more=f"Retry-After: {header}\r\n")
    asked = ask(reply, wire.http(wire.sse(wire.text("a"))), retries=1)
    assert asked.text == "a"
    assert asked.waits == [wait_s]


def test_a_connection_dropped_before_the_first_token_is_asked_again(ask: Ask, wire: Any) -> None:
    """Before any byte, after the headers, after a chunk that says nothing, after an error that may pass."""

    async def drop(exchange: Any) -> None:
        exchange.writer.close()

    nothing_said = wire.cut(wire.sse({"choices": [{"delta": {"role": "assistant"}}]}, done=False))
    failing = wire.http(wire.sse({"error": {"code": 503, "message": "overloaded"}}))
    good = wire.http(wire.sse(wire.text("a")))
    asked = ask(drop, wire.cut(b""), nothing_said, failing, wire.http(b""), good, retries=5)
    assert asked.text == "a"
    assert len(asked.server.requests) == 6


@pytest.mark.parametrize("more", ["", "Retry-After: 0\r\n"])
def test_a_model_that_is_loading_is_waited_for(ask: Ask, wire: Any, more: str) -> None:
    """llama.cpp after its start: for up to a minute, however few retries are set; then the person is told what to do.
    Who has switched asking again off is told at once."""
    body = b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'
    loading = wire.http(body, "503 Service Unavailable", more=more)
    asked = ask(*[loading] * 6, wire.http(wire.sse(wire.text("a"))), retries=1)
    assert asked.text == "a"
    assert len(asked.waits) == 6
    asked = ask(loading, retries=1)
    assert 55 < sum(asked.waits) < 75
    assert "is still loading its model (503): Loading model; ask again when it has" in str(asked.error)
    asked = ask(loading, retries=0)
    assert asked.waits == []


def test_reasoning_given_out_counts_as_a_first_token(ask: Ask, wire: Any) -> None:
    """What was shown must not be shown again."""
    chunk = {"choices": [{"delta": {"reasoning": "hm"}}]}
    asked = ask(wire.cut(wire.sse(chunk, done=False)), retries=3)
    assert len(asked.server.requests) == 1
    assert isinstance(asked.error, ModelBadAnswer)


# The connection


def test_a_server_that_is_down_is_named_with_a_hint() -> None:
    """B224: connection refused."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    async def question() -> list[str]:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        model = OpenAIModel(
            f"http://127.0.0.1:{port}/v1", "m", timeouts=PATIENT, retry=RetryPolicy(2), sleep=sleep
        )
        with pytest.raises(ModelUnreachable) as caught:
            [event async for event in model.stream(HELLO, [])]
        await model.aclose()
        assert len(waits) == 2
        return [str(caught.value)]

    assert asyncio.run(question()) == [
        f"cannot reach the model server at http://127.0.0.1:{port}/v1: connection refused; is it running?"
    ]


def test_a_silent_server_is_a_timeout_before_and_inside_the_answer(ask: Ask, wire: Any) -> None:
    """Not asked again: the person has waited long enough."""

    async def silent(exchange: Any) -> None:
        await exchange.until_client_is_gone()

    async def stalling(exchange: Any) -> None:
        await exchange.say(wire.endless(wire.sse(wire.text("a"), done=False)))
        await exchange.until_client_is_gone()

    for reply, text in ((silent, ""), (stalling, "a")):
        asked = ask(reply, idle_s=0.05, retries=3)
        assert isinstance(asked.error, ModelTimeout)
        assert "sent nothing for 0.05 s" in str(asked.error)
        assert asked.text == text
        assert len(asked.server.requests) == 1


def full_backlog() -> tuple[socket.socket, list[socket.socket]]:
    """A listening address that lets nobody in: its queue is full and nothing takes from it."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    waiting = []
    for _ in range(4):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listening.getsockname())
        waiting.append(one)
    return listening, waiting


def test_a_server_that_lets_nobody_in_is_unreachable() -> None:
    """The connect timeout."""
    listening, waiting = full_backlog()

    async def question() -> None:
        model = OpenAIModel(
            f"http://127.0.0.1:{listening.getsockname()[1]}",
            "m",
            timeouts=Timeouts(0.05, 100),
            retry=RetryPolicy(0),
        )
        with pytest.raises(ModelUnreachable, match=r"no connection within 0\.05 s"):
            [event async for event in model.stream(HELLO, [])]
        await model.aclose()

    asyncio.run(question())
    for one in (listening, *waiting):
        one.close()


def test_a_cancel_while_connecting_ends_the_wait() -> None:
    """Cancel acts at once."""
    listening, waiting = full_backlog()

    async def question() -> None:
        model = OpenAIModel(
            f"http://127.0.0.1:{listening.getsockname()[1]}", "m", timeouts=PATIENT, retry=RetryPolicy(2)
        )
        task = asyncio.create_task(collect(model))
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(10):
            with pytest.raises(asyncio.CancelledError):
                await task
        await model.aclose()

    asyncio.run(question())
    for one in (listening, *waiting):
        one.close()


async def collect(model: OpenAIModel) -> list[Any]:
    async with aclosing(model.stream(HELLO, [])) as events:
        return [event async for event in events]


@pytest.mark.parametrize(
    "moment", ["before the headers", "after the headers", "in the stream", "in a keep-alive"]
)
def test_a_cancel_closes_the_connection(serving: Any, wire: Any, moment: str) -> None:
    """The server sees the end of the connection, so it can stop its work."""

    async def reply(exchange: Any) -> None:
        if moment == "after the headers":
            await exchange.say(wire.endless(b""))
        if moment == "in the stream":
            await exchange.say(wire.endless(wire.sse(wire.text("a"), done=False)))
        if moment == "in a keep-alive":
            await exchange.say(wire.endless(b": ping\n\n"))
        await exchange.until_client_is_gone()

    async def question() -> None:
        async with serving(reply) as server:
            model = OpenAIModel(server.url, "m", timeouts=PATIENT, retry=RetryPolicy(2))
            task = asyncio.create_task(collect(model))
            await server.asked.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.client_gone.wait()
            await model.aclose()

    asyncio.run(question())


def test_a_cancel_at_any_step_of_an_answer_closes_the_connection(serving: Any, wire: Any) -> None:
    """From the arrival of the request on, one step of the event loop later each time."""

    async def reply(exchange: Any) -> None:
        await exchange.say(wire.endless(b""))
        for _ in range(10):
            await exchange.say(wire.sse(wire.text("a"), done=False))
            await asyncio.sleep(0)
        await exchange.until_client_is_gone()

    async def question() -> None:
        async with serving(reply) as server:
            model = OpenAIModel(server.url, "m", timeouts=PATIENT, retry=RetryPolicy(2))
            for steps in range(50):
                server.asked.clear()
                server.client_gone.clear()
                task = asyncio.create_task(collect(model))
                await server.asked.wait()
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await server.client_gone.wait()
            assert server.connections == len(server.requests) == 50
            await model.aclose()

    asyncio.run(question())


def test_leaving_the_loop_early_closes_the_connection(serving: Any, wire: Any) -> None:
    """Closing the iterator aborts the request, without a cancelled task."""

    async def reply(exchange: Any) -> None:
        await exchange.say(wire.endless(wire.sse(wire.text("a"), done=False)))
        await exchange.until_client_is_gone()

    async def question() -> None:
        async with serving(reply) as server:
            model = OpenAIModel(server.url, "m", timeouts=PATIENT, retry=RetryPolicy(2))
            async with aclosing(model.stream(HELLO, [])) as events:
                async for event in events:
                    assert event == TextDelta("a")
                    break
            await server.client_gone.wait()
            await model.aclose()

    asyncio.run(question())


def test_a_cancel_in_the_wait_before_asking_again_acts_at_once(serving: Any, wire: Any) -> None:
    """B217: a Retry-After of a minute does not hold the cancel."""

    async def question() -> None:
        waiting = asyncio.Event()

        async def sleep(seconds: float) -> None:
            waiting.set()
            await asyncio.sleep(seconds)

        async with serving(wire.http(b"", "429 Too Many", more="Retry-After: 50\r\n")) as server:
            model = OpenAIModel(server.url, "m", timeouts=PATIENT, retry=RetryPolicy(2), sleep=sleep)
            task = asyncio.create_task(collect(model))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(server.requests) == 1
            await model.aclose()

    asyncio.run(question())


def test_the_connection_serves_the_next_question(ask: Ask, wire: Any) -> None:
    """One connection for a whole conversation, also after [DONE] and after a finish reason."""
    reply = wire.kept_open(wire.sse(wire.text("a"), wire.finish("stop")))
    asked = ask(reply, times=3)
    assert asked.text == "aaa"
    assert asked.server.connections == 1


def test_a_loopback_server_is_never_asked_through_a_proxy(
    ask: Ask, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of the environment cannot reach this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(wire.http(wire.sse(wire.text("a")))).text == "a"


def test_proxy_settings_that_cannot_be_used_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SOCKS proxy in the environment needs a package that may be missing; a malformed one never works."""
    monkeypatch.setenv("ALL_PROXY", "nonsense://x")
    monkeypatch.delenv("NO_PROXY", raising=False)

    async def question() -> None:
        model = OpenAIModel("http://models.example/v1", "m", timeouts=PATIENT, retry=RetryPolicy(2))
        with pytest.raises(ModelUnreachable, match="proxy or certificate settings of the environment"):
            await collect(model)
        await model.aclose()

    asyncio.run(question())


def test_an_unknown_host_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name server does not know it."""

    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def question() -> None:
        model = OpenAIModel("http://models.invalid/v1", "m", timeouts=PATIENT, retry=RetryPolicy(0))
        with pytest.raises(ModelUnreachable, match="host name is not known"):
            await collect(model)
        await model.aclose()

    asyncio.run(question())


def test_something_that_is_no_http_server_is_explained(ask: Ask) -> None:
    """An address of another service."""
    asked = ask(b"SSH-2.0-OpenSSH_9.2\r\nconnection: close\r\n\r\n")
    assert isinstance(asked.error, ModelUnreachable)
    assert "does not speak HTTP" in str(asked.error)


# The request and the secret


def test_the_request_is_a_streaming_chat_completion_with_tools(ask: Ask, wire: Any) -> None:
    """What every OpenAI-compatible server understands; optional members only when they are set."""
    asked = ask(wire.http(wire.sse(wire.text("a"))), api_key=KEY, sampling=Sampling(0.5, 100))
    (exchange,) = asked.server.requests
    assert exchange.headers.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert f"authorization: Bearer {KEY}\r\n" in exchange.headers.replace("Authorization", "authorization")
    body = exchange.body
    assert body["model"] == "test-model"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert (body["temperature"], body["max_tokens"]) == (0.5, 100)
    assert body["messages"] == HELLO
    assert [tool["type"] for tool in body["tools"]] == ["function", "function"]
    assert body["tools"][0]["function"]["name"] == "bash"
    plain = ask(wire.http(wire.sse(wire.text("a"))), tools=[]).server.requests[0]
    assert set(plain.body) == {"model", "messages", "stream", "stream_options"}
    assert "authorization" not in plain.headers.lower()


@pytest.mark.parametrize("status", ["401 No", "400 Bad", "500 Oops", "429 Too Many", "307 Redirect"])
def test_the_key_appears_in_no_error_note_repr_or_log(
    ask: Ask, wire: Any, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers repeat the key they were given; it stays secret all the same."""
    caplog.set_level(logging.DEBUG)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    asked = ask(wire.http(body, status), api_key=KEY, retries=1)
    assert asked.error is not None
    seen = [repr(asked.error), str(asked.error), *asked.notes, caplog.text]
    assert not any(KEY in text for text in seen)
    model = OpenAIModel(
        "http://user:pass@127.0.0.1:1/v1?k=v", "m", api_key=KEY, timeouts=PATIENT, retry=RetryPolicy(2)
    )
    assert repr(model) == "<OpenAIModel m at http://127.0.0.1:1/v1>"
    assert KEY not in repr(model.__dict__)


def test_the_key_in_a_redirect_or_a_stream_error_is_hidden_too(ask: Ask, wire: Any) -> None:
    """Also in malformed JSON that is shown."""
    asked = ask(wire.http(b"", "307 Redirect", more=f"location: http://x/?{KEY}\r\n"), api_key=KEY)
    assert KEY not in str(asked.error)
    for chunk in (
        {"error": {"message": f"key {KEY}"}},
        f'data: {{"x {KEY}\n\n',
        f"event: error\ndata: {KEY}\n\n",
    ):
        asked = ask(wire.http(wire.sse(chunk)), api_key=KEY)
        assert isinstance(asked.error, ModelError)
        assert KEY not in str(asked.error)
        assert "***" in str(asked.error)


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a\nb", "sk-a\x00b"])
def test_a_key_no_header_can_hold_is_explained_without_it(ask: Ask, wire: Any, key: str) -> None:
    """A slip in copying."""
    asked = ask(wire.http(b""), api_key=key, api_key_variable="MY_KEY")
    assert isinstance(asked.error, ModelAuthError)
    assert "$MY_KEY" in str(asked.error)
    assert key not in str(asked.error)
    assert asked.server.requests == []


def test_without_a_key_the_refusal_names_the_setting(ask: Ask, wire: Any) -> None:
    """A person without a key learns where to put it."""
    assert "model.apiKeyEnv" in str(ask(wire.http(b"", "401 No")).error)
    asked = ask(wire.http(b"", "401 No"), api_key=" \n", api_key_variable="MY_KEY")
    assert "$MY_KEY, which is empty or not set" in str(asked.error)


@pytest.mark.parametrize(
    ("base_url", "label"),
    [
        ("http://localhost:11434/v1", "m at http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "m at http://localhost:11434/v1"),
        ("https://h/v1/chat/completions", "m at https://h/v1"),
        ("http://[::1]:80", "m at http://[::1]:80"),
        ("https://user:secret@h/deployments/x?api-version=1", "m at https://h/deployments/x"),
    ],
)
def test_the_label_shows_the_address_without_secrets(base_url: str, label: str) -> None:
    """For the banner."""
    assert OpenAIModel(base_url, "m", timeouts=PATIENT, retry=RetryPolicy(2)).label == label


@pytest.mark.parametrize(
    "base_url", ["", "localhost:11434", "ftp://h/v1", "http://", "http://h:port/v1", "http://u:pw@"]
)
def test_an_address_that_is_none_is_refused_at_once(base_url: str) -> None:
    """With the address but without a password in it."""
    with pytest.raises(ModelUnreachable, match=r"model\.baseUrl should be an address") as caught:
        OpenAIModel(base_url, "m", timeouts=PATIENT, retry=RetryPolicy(2))
    assert "pw" not in str(caught.value)


def test_importing_the_client_does_not_import_httpx() -> None:
    """A start does not pay for what only a request needs."""
    import subprocess
    import sys

    program = (
        "import sys, acp_agent.llm.client, acp_agent.llm.providers as p; "
        "more = {'connect_timeout_s': 1, 'idle_timeout_s': 1, 'retries': 0}; "
        "p.create_model(provider='openai', base_url='http://localhost', name='m', **more); "
        "p.create_model(provider='offline', **more); "
        "print([m for m in ('httpx', 'httpx_sse', 'jsonschema', 'jsonschema_rs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
