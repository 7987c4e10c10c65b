"""What no client should send: each row of the JSON-RPC table, over the real process, which lives on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from raw_client import Agent

from acp_agent.protocol.methods import Side

PARSE, INVALID, UNKNOWN, PARAMS = -32700, -32600, -32601, -32602

Expected = tuple[int, Any] | None
"""Code and id of the one error that comes back; None: nothing comes back."""

GOOD = '"method":"authenticate","params":{"methodId":"x"}'
DEEP = 100_000

ROWS: dict[str, tuple[bytes, Expected]] = {
    # Lines that are no JSON
    "not JSON": (b"hello", (PARSE, None)),
    "half an object": (b'{"jsonrpc":"2.0","id":1,', (PARSE, None)),
    "two values": (b'{"jsonrpc":"2.0"} {"jsonrpc":"2.0"}', (PARSE, None)),
    "a trailing comma": (b'{"jsonrpc":"2.0","id":1,"method":"x",}', (PARSE, None)),
    "single quotes": (b"{'jsonrpc':'2.0','id':1,'method':'x'}", (PARSE, None)),
    "a comment": (b'/* */ {"jsonrpc":"2.0","id":1,"method":"x"}', (PARSE, None)),
    "a header of another framing": (b"Content-Length: 42", (PARSE, None)),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (PARSE, None)),
    "half a character": (b'{"jsonrpc":"2.0","id":1,"method":"\xc3"}', (PARSE, None)),
    "an overlong character": (b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}', (PARSE, None)),
    "a surrogate in UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', (PARSE, None)),
    "UTF-16": ('{"jsonrpc":"2.0","id":1,"method":"x"}'.encode("utf-16-le").replace(b"\n", b""), (PARSE, None)),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,' + GOOD.encode() + b"}", (PARSE, None)),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', (PARSE, None)),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":-Infinity}}', (PARSE, None)),
    "NaN as id": (b'{"jsonrpc":"2.0","id":NaN,"method":"x"}', (PARSE, None)),
    "a NUL byte": (b"\0", (PARSE, None)),
    "a control character in a string": (b'{"jsonrpc":"2.0","id":1,"method":"a\x01"}', (PARSE, None)),
    "nested without end": (b"[" * DEEP, (PARSE, None)),
    "nested far too deeply": (b"[" * DEEP + b"]" * DEEP, (PARSE, None)),
    "objects nested far too deeply": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, (PARSE, None)),
    "a leading zero": (b'{"jsonrpc":"2.0","id":01,"method":"x"}', (PARSE, None)),
    "a hexadecimal id": (b'{"jsonrpc":"2.0","id":0x1,"method":"x"}', (PARSE, None)),
    # JSON that is no object
    "a number": (b"42", (INVALID, None)),
    "a text": (b'"hello"', (INVALID, None)),
    "null": (b"null", (INVALID, None)),
    "true": (b"true", (INVALID, None)),
    "an empty batch": (b"[]", (INVALID, None)),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,' + GOOD.encode() + b"}]", (INVALID, None)),
    "a batch of two": (b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"y"}]', (INVALID, None)),
    "a batch of rubbish": (b"[1,2,3]", (INVALID, None)),
    # Envelopes
    "an empty object": (b"{}", (INVALID, None)),
    "jsonrpc alone": (b'{"jsonrpc":"2.0"}', (INVALID, None)),
    "params alone": (b'{"jsonrpc":"2.0","params":{}}', (INVALID, None)),
    "no jsonrpc": (b'{"id":"e1",' + GOOD.encode() + b"}", (INVALID, "e1")),
    "jsonrpc 1.0": (b'{"jsonrpc":"1.0","id":"e2",' + GOOD.encode() + b"}", (INVALID, "e2")),
    "jsonrpc as number": (b'{"jsonrpc":2.0,"id":"e3",' + GOOD.encode() + b"}", (INVALID, "e3")),
    "jsonrpc null": (b'{"jsonrpc":null,"id":"e4",' + GOOD.encode() + b"}", (INVALID, "e4")),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":"e5","method":7}', (INVALID, "e5")),
    "a method that is null": (b'{"jsonrpc":"2.0","id":"e6","method":null}', (INVALID, "e6")),
    "a method that is an object": (b'{"jsonrpc":"2.0","id":"e7","method":{}}', (INVALID, "e7")),
    "names in the wrong case": (b'{"JSONRPC":"2.0","ID":1,"METHOD":"x"}', (INVALID, None)),
    # Ids
    "an id with a fraction": (b'{"jsonrpc":"2.0","id":1.5,' + GOOD.encode() + b"}", (INVALID, None)),
    "an id that is true": (b'{"jsonrpc":"2.0","id":true,' + GOOD.encode() + b"}", (INVALID, None)),
    "an id that is an object": (b'{"jsonrpc":"2.0","id":{},' + GOOD.encode() + b"}", (INVALID, None)),
    "an id that is a list": (b'{"jsonrpc":"2.0","id":[1],' + GOOD.encode() + b"}", (INVALID, None)),
    "an id beyond 64 bits": (b'{"jsonrpc":"2.0","id":9223372036854775808,' + GOOD.encode() + b"}", (INVALID, None)),
    "a number no float can hold": (b'{"jsonrpc":"2.0","id":1' + b"0" * 400 + b',"method":"x"}', (PARSE, None)),
    "an id below 64 bits": (b'{"jsonrpc":"2.0","id":-9223372036854775809,' + GOOD.encode() + b"}", (INVALID, None)),
    "an id of 1e400": (b'{"jsonrpc":"2.0","id":1e400,' + GOOD.encode() + b"}", (PARSE, None)),
    "an id with half a character": (b'{"jsonrpc":"2.0","id":"\\ud800",' + GOOD.encode() + b"}", (INVALID, None)),
    "a bad id and a bad version": (b'{"jsonrpc":"1.0","id":[],' + GOOD.encode() + b"}", (INVALID, None)),
    # Notifications and responses are never answered
    "a notification with no method name": (b'{"jsonrpc":"2.0","method":7}', None),
    "a notification without jsonrpc": (b'{"method":"session/cancel","params":{"sessionId":"x"}}', None),
    "a notification with bad params": (b'{"jsonrpc":"2.0","method":"session/cancel","params":[1]}', None),
    "a notification with no params": (b'{"jsonrpc":"2.0","method":"session/cancel"}', None),
    "a response to nobody": (b'{"jsonrpc":"2.0","id":4711,"result":{}}', None),
    "an error to nobody": (b'{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"m"}}', None),
    "a response with a null id": (b'{"jsonrpc":"2.0","id":null,"result":{}}', None),
    "an error with a null id": (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}', None),
    "a response with no id": (b'{"jsonrpc":"2.0","result":{}}', None),
    "a response with a bad id": (b'{"jsonrpc":"2.0","id":[],"result":{}}', None),
    "an id alone": (b'{"jsonrpc":"2.0","id":4712}', None),
    "result and error": (b'{"jsonrpc":"2.0","id":4713,"result":1,"error":{}}', None),
    "an error that is a text": (b'{"jsonrpc":"2.0","id":4714,"error":"oops"}', None),
    "an error with a text for a code": (b'{"jsonrpc":"2.0","id":4715,"error":{"code":"x","message":"m"}}', None),
    # Params
    "params as a list": (b'{"jsonrpc":"2.0","id":"p1","method":"authenticate","params":["x"]}', (PARAMS, "p1")),
    "params as a text": (b'{"jsonrpc":"2.0","id":"p2","method":"authenticate","params":"x"}', (PARAMS, "p2")),
    "params as a number": (b'{"jsonrpc":"2.0","id":"p3","method":"authenticate","params":0}', (PARAMS, "p3")),
    "params as false": (b'{"jsonrpc":"2.0","id":"p4","method":"authenticate","params":false}', (PARAMS, "p4")),
    "params null": (b'{"jsonrpc":"2.0","id":"p5","method":"authenticate","params":null}', (PARAMS, "p5")),
    "no params": (b'{"jsonrpc":"2.0","id":"p6","method":"authenticate"}', (PARAMS, "p6")),
    "params of an unknown method": (b'{"jsonrpc":"2.0","id":"p7","method":"nope","params":[1]}', (UNKNOWN, "p7")),
    "params of an unserved method": (b'{"jsonrpc":"2.0","id":"p8","method":"logout","params":7}', (UNKNOWN, "p8")),
    # Methods
    "an unknown request": (b'{"jsonrpc":"2.0","id":"m1","method":"no/such"}', (UNKNOWN, "m1")),
    "a very long method": (b'{"jsonrpc":"2.0","id":"m2","method":"' + b"x" * 100_000 + b'"}', (UNKNOWN, "m2")),
    "a method with line separators": (b'{"jsonrpc":"2.0","id":"m3","method":"\\u2028\\n\\u0000"}', (UNKNOWN, "m3")),
    "an agent's method": (b'{"jsonrpc":"2.0","id":"m4","method":"session/update","params":{}}', (UNKNOWN, "m4")),
}  # fmt: skip

# Odd but right: each is answered as the well-formed request it is.
ODD: dict[str, tuple[bytes, Any]] = {
    "spaces around": (b'  \t{ "jsonrpc" : "2.0" , "id" : "o1" , ' + GOOD.encode() + b" }  ", "o1"),
    "a carriage return inside": (b'{"jsonrpc":"2.0",\r"id":"cr",' + GOOD.encode() + b"}", "cr"),
    "a carriage return at the end": (b'{"jsonrpc":"2.0","id":"o2",' + GOOD.encode() + b"}\r", "o2"),
    "escapes for plain letters": (
        rb'{"jsonrpc":"2.0","id":"o3","method":"\u0061uthenticate","params":{"methodId":"x"}}',
        "o3",
    ),
    "an escaped slash": (rb'{"jsonrpc":"2.0","id":"a\/b",' + GOOD.encode() + b"}", "a/b"),
    "members in another order": (
        b'{"params":{"methodId":"x"},"method":"authenticate","id":"o4","jsonrpc":"2.0"}',
        "o4",
    ),
    "members of one's own": (b'{"jsonrpc":"2.0","id":"o5","trace":1,' + GOOD.encode() + b"}", "o5"),
    "an id of 0": (b'{"jsonrpc":"2.0","id":0,' + GOOD.encode() + b"}", 0),
    "an id of 7.0": (b'{"jsonrpc":"2.0","id":7.0,' + GOOD.encode() + b"}", 7),
    "the largest id": (b'{"jsonrpc":"2.0","id":9223372036854775807,' + GOOD.encode() + b"}", 2**63 - 1),
    "an empty id": (b'{"jsonrpc":"2.0","id":"",' + GOOD.encode() + b"}", ""),
    "an id of digits": (b'{"jsonrpc":"2.0","id":"7",' + GOOD.encode() + b"}", "7"),
    "an id of 100,000 characters": (
        b'{"jsonrpc":"2.0","id":"' + b"i" * 100_000 + b'",' + GOOD.encode() + b"}",
        "i" * 100_000,
    ),
    "an id with everything in it": (
        '{"jsonrpc":"2.0","id":"\\u0000\\n\\"\\\\\u2028\U0001f600",'.encode() + GOOD.encode() + b"}",
        '\0\n"\\\u2028\U0001f600',
    ),
    "half a character in params": (
        rb'{"jsonrpc":"2.0","id":"o6","method":"authenticate","params":{"methodId":"\ud83d"}}',
        "o6",
    ),
    "deep _meta": (
        b'{"jsonrpc":"2.0","id":"o7","method":"authenticate","params":{"methodId":"x","_meta":{"a":'
        + b"[" * 500
        + b"]" * 500
        + b"}}}",
        "o7",
    ),
    "huge numbers": (
        b'{"jsonrpc":"2.0","id":"o8","method":"authenticate","params":{"methodId":"x","_meta":{"a":1'
        + b"0" * 300
        + b',"b":-1e308,"c":0.1e-400}}}',
        "o8",
    ),
    "100,000 members": (
        b'{"jsonrpc":"2.0","id":"o9","method":"authenticate","params":{"methodId":"x","_meta":{'
        + b",".join(b'"k%d":0' % number for number in range(100_000))
        + b"}}}",
        "o9",
    ),
}


@pytest.mark.parametrize(("line", "expected"), ROWS.values(), ids=ROWS)
def test_a_bad_line_gets_what_the_table_says_and_the_next_good_one_is_served(
    bob: Agent, line: bytes, expected: Expected
) -> None:
    """No input on stdin ends the process, corrupts a session or leaves a request unanswered (R-302, B069, B072)."""
    seen = len(bob.messages)
    bob.send_line(line)
    bob.barrier()
    answers = bob.messages[seen:-1]
    if expected is None:
        assert answers == []
        return
    (answer,) = answers
    code, id_ = expected
    assert answer["error"]["code"] == code
    assert answer["id"] == id_
    assert type(answer["id"]) is type(id_)
    assert answer["error"]["message"]
    assert "Traceback" not in bob.stderr_text()


@pytest.mark.parametrize(("line", "id_"), ODD.values(), ids=ODD)
def test_an_odd_line_is_served_as_what_it_is(bob: Agent, line: bytes, id_: Any) -> None:
    """B042, B072: spellings of JSON, ids of all legal kinds; the id comes back with its value and type."""
    seen = len(bob.messages)
    bob.send_line(line)
    bob.barrier()
    (answer,) = bob.messages[seen:-1]
    assert answer["result"] == {}
    assert answer["id"] == id_
    assert type(answer["id"]) is type(id_)


@pytest.mark.parametrize("line", [b"", b" ", b"\t \t", b"\r", b" \r"])
def test_blank_lines_are_ignored(bob: Agent, line: bytes) -> None:
    """Blank or space-only line: ignored when read."""
    seen = len(bob.messages)
    bob.write(line + b"\n")
    bob.barrier()
    assert len(bob.messages) == seen + 1


def test_a_null_id_is_answered_with_a_null_id(bob: Agent) -> None:
    """`id: null` with a method: answered with `id: null`."""
    seen = len(bob.messages)
    bob.send_line(b'{"jsonrpc":"2.0","id":null,' + GOOD.encode() + b"}")
    bob.barrier()
    (answer,) = bob.messages[seen:-1]
    assert (answer["id"], answer["result"]) == (None, {})


def test_a_raw_newline_inside_a_message_is_two_bad_lines(bob: Agent) -> None:
    """R-004: the same as not JSON, twice; what follows is served."""
    seen = len(bob.messages)
    bob.send_line(b'{"jsonrpc":"2.0",')
    bob.send_line(b'"id":1}')
    bob.barrier()
    assert [answer["error"]["code"] for answer in bob.messages[seen:-1]] == [PARSE, PARSE]


def test_duplicate_keys_do_not_end_it(bob: Agent) -> None:
    """Duplicate object keys: the last wins when lenient; whatever is made of it, there is one answer."""
    seen = len(bob.messages)
    bob.send_line(b'{"jsonrpc":"2.0","id":"d1","id":"d2",' + GOOD.encode() + b"}")
    bob.barrier()
    (answer,) = bob.messages[seen:-1]
    assert answer["id"] == "d2"


def test_an_id_that_is_open_is_refused_and_the_first_request_unharmed(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Same id twice while open: -32600 with that id; the first is answered as if nothing had been."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "first", id_="twice")
    call = model.next()
    judge, bob.judge = bob.judge, None  # an observer takes the refusal for the answer
    for method in ("session/prompt", "authenticate", "no/such"):
        seen = len(bob.messages)
        bob.request(method, {"sessionId": session, "prompt": [], "methodId": "x"}, id_="twice")
        while len(bob.messages) == seen:
            bob.read_some(20)
        error = bob.messages[seen]["error"]
        assert (error["code"], error["data"]["reason"]) == (INVALID, "duplicate_id")
    seen = len(bob.messages)
    call.text("unharmed").finish()
    answer = bob.until(lambda message: message.get("id") == "twice" and "result" in message)
    assert answer["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session, seen) == "unharmed"
    bob.judge = judge
    assert judge is not None
    # The record is set right by hand: the request that is open for the observer has been answered.
    judge.connection.conversation.reject_response(Side.AGENT, prompt)


def test_an_id_may_be_used_again_after_its_answer(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Id reused after its response: legal."""
    session = bob.new_session(tmp_path)
    for number in range(3):
        seen = len(bob.messages)
        bob.prompt(session, "x", id_="again")
        model.next().text(str(number)).finish()
        bob.until(lambda message: message.get("id") == "again" and "result" in message)
        assert bob.text_of(session, seen) == str(number)


def test_input_that_arrives_one_byte_at_a_time(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Whatever the slices: whole characters, whole lines (B066, R-001)."""
    session = bob.new_session(tmp_path)
    text = "é漢😀\u2028 end"
    message = {
        "jsonrpc": "2.0",
        "id": "slow",
        "method": "session/prompt",
        "params": {"sessionId": session, "prompt": [{"type": "text", "text": text}]},
    }
    line = json.dumps(message, ensure_ascii=False).encode()
    assert bob.judge is not None
    bob.judge.client_wrote(line)
    for byte in line + b"\r\n":
        bob.write(bytes([byte]))
    call = model.next()
    assert call.messages[-1]["content"] == text
    call.text(text).finish()
    assert bob.answer("slow")["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session) == text


def test_many_lines_in_one_write(bob: Agent) -> None:
    """A thousand requests in one write: a thousand answers, in order."""
    seen = len(bob.messages)
    lines = [b'{"jsonrpc":"2.0","id":"w%d",%s}' % (number, GOOD.encode()) for number in range(1000)]
    assert bob.judge is not None
    for line in lines:
        bob.judge.client_wrote(line)
    bob.write(b"\n".join(lines) + b"\n")
    bob.barrier()
    assert [answer["id"] for answer in bob.messages[seen:-1]] == [f"w{number}" for number in range(1000)]


# -- long lines


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 1 << 20, 16 << 20])
def test_a_long_line_is_read_whole(bob: Agent, model: ModelServer, tmp_path: Path, size: int) -> None:
    """B137, R-312: no 64 KiB limit; 16 MiB on one line."""
    session = bob.new_session(tmp_path)
    text = "0123456789abcde\n" * (size // 16) + "x" * (size % 16)
    prompt = bob.prompt(session, text)
    call = model.next()
    assert call.messages[-1]["content"] == text
    call.text("read").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}


def test_a_line_over_the_limit_is_skipped_and_the_connection_lives(start: Callable[..., Agent]) -> None:
    """Over limits.maxLineBytes: a clear error, the rest of that line is skipped, the next good line works; an endless
    line costs no memory."""
    bob = start("[limits]\nmaxLineBytes = 65536\n")
    bob.initialize()
    assert bob.judge is not None
    for size in (65_537, 200_000, 64 << 20):
        seen = len(bob.messages)
        judge, bob.judge = bob.judge, None  # it need not read all that
        bob.write(b'{"jsonrpc":"2.0","id":"long","method":"' + b"x" * size + b'"}\n')
        while len(bob.messages) == seen:
            bob.read_some(20)
        bob.judge = judge
        bob.barrier()
        (error,) = bob.messages[seen:-1]
        assert error["id"] is None
        assert error["error"]["code"] == PARSE
        assert "65536" in error["error"]["message"]
    assert bob.rss_kib < 100 * 1024
    # A line of just the limit is still served.
    head, tail = b'{"jsonrpc":"2.0","id":"fits",' + GOOD.encode() + b',"pad":"', b'"}'
    bob.send_line(head + b"x" * (65_536 - len(head) - len(tail)) + tail)
    assert bob.answer("fits")["result"] == {}
    assert bob.end() == 0
    bob.assert_clean()


def test_no_bad_line_touches_a_running_turn(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """All of the table in the middle of a turn: the turn, its history and its permission are unharmed."""
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    model.next().text("a").tool("bash", {"command": "echo ran"}).finish("tool_calls")
    request = bob.permission()
    for line, _ in ROWS.values():
        bob.send_line(line)
    bob.barrier()
    assert not model.is_asked()
    bob.choose(request)
    call = model.next()
    assert call.messages[-1]["content"] == "ran\n"
    call.text("b").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session) == "ab"
