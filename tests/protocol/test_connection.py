"""One Connection and the lines of its peer: every case of the JSON-RPC edge table, and what sending guards.

Where the protocol is silent the expectations are those of docs/decisions.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.framing import LineTooLong
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
)
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.policy import Policy

if TYPE_CHECKING:
    from conftest import Pair

LENIENT = Policy()
INITIALIZE = b'{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":1}}\n'
NEW = b'{"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}\n'


def agent(policy: Policy = LENIENT, limit: int = 1000) -> Connection:
    """An agent that is ready, with session s1 open."""
    connection = Connection(Role.AGENT, policy, max_line_bytes=limit)
    connection.receive(INITIALIZE)
    connection.respond("init", {"protocolVersion": 1, "agentCapabilities": {"auth": {"logout": {}}}})
    connection.receive(NEW)
    connection.respond("new", {"sessionId": "s1"})
    return connection


def client(policy: Policy = LENIENT, limit: int = 1000) -> Connection:
    """A client that is ready, with session s1 open and request 2, a prompt, waiting for its answer."""
    connection = Connection(Role.CLIENT, policy, max_line_bytes=limit)
    connection.request("initialize", {"protocolVersion": 1, "clientCapabilities": {"terminal": True}})
    connection.receive(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n')
    connection.request("session/new", {"cwd": "/w", "mcpServers": []})
    connection.receive(b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}\n')
    connection.request("session/prompt", {"sessionId": "s1", "prompt": []})
    return connection


def replies(events: list[Event]) -> list[dict[str, Any]]:
    return [
        json.loads(event.reply)
        for event in events
        if isinstance(event, ProtocolViolation) and event.reply is not None
    ]


def reasons(events: list[Event]) -> list[str]:
    return [event.verdict.reason for event in events if isinstance(event, ProtocolViolation)]


def delivered(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, ProtocolViolation)]


# What an agent answers, and what it hands on: (code, id) or None, the slug, the event or None.
REFUSED = {
    "line is not JSON": (b"nonsense", (-32700, None), "parse_error"),
    "half an object": (b'{"jsonrpc":"2.0","id":1', (-32700, None), "parse_error"),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (-32700, None), "parse_error"),
    "byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"_x"}', (-32700, None), "parse_error"),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"_x","params":{"a":NaN}}', (-32700, None), "parse_error"),
    "Infinity": (
        b'{"jsonrpc":"2.0","id":1,"method":"_x","params":[-Infinity]}',
        (-32700, None),
        "parse_error",
    ),
    "two values on a line": (b"{} {}", (-32700, None), "parse_error"),
    "line over the limit": (b'{"a":"' + b"x" * 2000 + b'"}', (-32700, None), "line_too_long"),
    "number": (b"5", (-32600, None), "not_an_object"),
    "string": (b'"x"', (-32600, None), "not_an_object"),
    "null": (b"null", (-32600, None), "not_an_object"),
    "boolean": (b"true", (-32600, None), "not_an_object"),
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"session/new"}]', (-32600, None), "batch"),
    "empty batch": (b"[]", (-32600, None), "batch"),
    "member names in wrong case": (b'{"jsonrpc":"2.0","ID":1,"Method":"_x"}', (-32600, None), "bad_envelope"),
    "no jsonrpc": (b'{"id":4,"method":"session/new"}', (-32600, 4), "bad_envelope"),
    "wrong jsonrpc": (b'{"jsonrpc":"1.0","id":"q","method":"session/new"}', (-32600, "q"), "bad_envelope"),
    "jsonrpc is a number": (b'{"jsonrpc":2.0,"id":4,"method":"session/new"}', (-32600, 4), "bad_envelope"),
    "no jsonrpc, unusable id": (b'{"id":[],"method":"session/new"}', (-32600, None), "bad_id"),
    "id is a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"_x"}', (-32600, None), "bad_id"),
    "id is a boolean": (b'{"jsonrpc":"2.0","id":true,"method":"_x"}', (-32600, None), "bad_id"),
    "id is an object": (b'{"jsonrpc":"2.0","id":{},"method":"_x"}', (-32600, None), "bad_id"),
    "id is an array": (b'{"jsonrpc":"2.0","id":[1],"method":"_x"}', (-32600, None), "bad_id"),
    "id beyond int64": (
        b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"_x"}',
        (-32600, None),
        "bad_id",
    ),
    "id below int64": (
        b'{"jsonrpc":"2.0","id":-9223372036854775809,"method":"_x"}',
        (-32600, None),
        "bad_id",
    ),
    "id is half a character": (rb'{"jsonrpc":"2.0","id":"\ud83d","method":"_x"}', (-32600, None), "bad_id"),
    "method is a number": (b'{"jsonrpc":"2.0","id":4,"method":5}', (-32600, 4), "bad_envelope"),
    "method is null": (b'{"jsonrpc":"2.0","id":4,"method":null}', (-32600, 4), "bad_envelope"),
    "neither id nor method": (b'{"jsonrpc":"2.0","params":{}}', (-32600, None), "bad_envelope"),
    "empty object": (b"{}", (-32600, None), "bad_envelope"),
    "unknown request": (b'{"jsonrpc":"2.0","id":4,"method":"x/y"}', (-32601, 4), "method_unknown"),
    "unknown $/ request": (b'{"jsonrpc":"2.0","id":4,"method":"$/x"}', (-32601, 4), "method_unknown"),
    "cancel_request as a request": (
        b'{"jsonrpc":"2.0","id":4,"method":"$/cancel_request","params":{"requestId":1}}',
        (-32601, 4),
        "notification_as_request",
    ),
    "notification name as a request": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/cancel","params":{"sessionId":"s1"}}',
        (-32601, 4),
        "notification_as_request",
    ),
    "method of the other direction": (
        b'{"jsonrpc":"2.0","id":4,"method":"fs/read_text_file","params":{}}',
        (-32601, 4),
        "method_unknown",
    ),
    "gate closed": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/load","params":{}}',
        (-32601, 4),
        "capability_missing",
    ),
    "params absent": (b'{"jsonrpc":"2.0","id":4,"method":"session/new"}', (-32602, 4), "params_invalid"),
    "params null": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":null}',
        (-32602, 4),
        "params_invalid",
    ),
    "params array": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":["/w",[]]}',
        (-32602, 4),
        "params_invalid",
    ),
    "params string": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":"x"}',
        (-32602, 4),
        "params_invalid",
    ),
    "params number": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":5}',
        (-32602, 4),
        "params_invalid",
    ),
    "params boolean": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":true}',
        (-32602, 4),
        "params_invalid",
    ),
    "relative cwd": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":"w","mcpServers":[]}}',
        (-32602, 4),
        "params_invalid",
    ),
    "second initialize": (INITIALIZE.strip(), (-32600, "init"), "already_initialised"),
    "unknown session": (
        b'{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"no","prompt":[]}}',
        (-32002, 4),
        "session_unknown",
    ),
}


@pytest.mark.parametrize(("data", "answer", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_an_agent_answers_each_bad_line_once_and_goes_on(
    data: bytes, answer: tuple[int, Any], reason: str
) -> None:
    """The table of edge cases: code, id and slug; the next line starts clean and nothing has changed."""
    connection = agent()
    events = connection.receive(data + b"\n")
    (reply,) = replies(events)
    assert reply.keys() == {"jsonrpc", "id", "error"}
    assert reply["jsonrpc"] == "2.0"
    assert (reply["error"]["code"], reply["id"], type(reply["id"])) == (*answer, type(answer[1]))
    assert reply["error"]["data"]["reason"] == reason
    assert reasons(events) == [reason]
    assert delivered(events) == []
    good = connection.receive(b'{"jsonrpc":"2.0","id":"good","method":"logout"}\n')
    assert good == [RequestReceived("good", "logout", {})]


@pytest.mark.parametrize(("data", "answer", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_client_answers_only_what_names_an_id(data: bytes, answer: tuple[int, Any], reason: str) -> None:
    """Decision 1: a client reports an unreadable line and never answers it."""
    events = client().receive(data + b"\n")
    assert delivered(events) == []
    assert [reply["id"] for reply in replies(events)] == ([] if answer[1] is None else [answer[1]])
    assert len(reasons(events)) == 1


def test_a_raw_newline_in_a_message_makes_two_bad_lines() -> None:
    """R-004: the same as not JSON, twice."""
    events = agent().receive(b'{"jsonrpc":"2.0","id":1,"method":"a\nb"}\n')
    assert [reply["error"]["code"] for reply in replies(events)] == [-32700, -32700]


# Lines that get no answer, with their slugs.
SILENT = {
    "blank line": (b"", []),
    "space-only line": (b" \t ", []),
    "unknown notification": (b'{"jsonrpc":"2.0","method":"x/y","params":{}}', []),
    "unknown _ notification": (b'{"jsonrpc":"2.0","method":"_x","params":[1]}', []),
    "unknown $/ notification": (b'{"jsonrpc":"2.0","method":"$/x"}', []),
    "request name as notification": (
        b'{"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}',
        ["request_as_notification"],
    ),
    "notification of the other direction": (
        b'{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}',
        ["method_unknown"],
    ),
    "bad params in a notification": (
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":5}}',
        ["params_invalid"],
    ),
    "unhashable id to cancel": (
        b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":[]}}',
        ["params_invalid"],
    ),
    "notification without jsonrpc": (b'{"method":"session/cancel","params":{}}', ["bad_envelope"]),
    "notification whose method is no string": (b'{"jsonrpc":"2.0","method":5}', ["bad_envelope"]),
    "response to an unknown id": (b'{"jsonrpc":"2.0","id":77,"result":{}}', ["response_unknown_id"]),
    "error to the null id": (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
        ["response_unknown_id"],
    ),
    "result without an id": (b'{"jsonrpc":"2.0","result":{}}', ["response_malformed"]),
    "response with an unusable id": (b'{"jsonrpc":"2.0","id":[1],"result":{}}', ["response_malformed"]),
    "only an id": (b'{"jsonrpc":"2.0","id":77}', ["response_malformed"]),
}


@pytest.mark.parametrize(("data", "expected"), SILENT.values(), ids=SILENT.keys())
def test_notifications_and_responses_are_never_answered(data: bytes, expected: list[str]) -> None:
    """R-015, and the rows of the table that say drop, report, or silent."""
    connection = agent()
    events = connection.receive(data + b"\n")
    assert replies(events) == []
    assert reasons(events) == expected
    if expected:
        assert delivered(events) == []


def test_an_unknown_notification_is_handed_on_as_it_came() -> None:
    """R-253: whoever does not know it ignores it."""
    (event,) = agent().receive(b'{"jsonrpc":"2.0","method":"_x/y","params":[1]}\n')
    assert (type(event), event) == (NotificationReceived, NotificationReceived("_x/y", [1]))


def test_an_unknown_extension_request_is_handed_on_with_its_name() -> None:
    """R-251: the underscore stays; whoever does not know it answers -32601."""
    connection = agent()
    (event,) = connection.receive(b'{"jsonrpc":"2.0","id":4,"method":"_x","params":{"sessionId":[]}}\n')
    assert event == RequestReceived(4, "_x", {"sessionId": []})
    assert json.loads(connection.respond(4, {"any": 1}))["result"] == {"any": 1}


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("0", 0),
        ("-7", -7),
        ("9007199254740993", 9007199254740993),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.0", 1),
        ("1e0", 1),
        ('""', ""),
        ('"1"', "1"),
        (r'"A\u00e9\ud83d\ude00"', "Aé\U0001f600"),
    ],
)
def test_an_id_is_echoed_exactly(text: str, id_: Any) -> None:
    """Value and JSON type; the full range of int64."""
    connection = agent()
    (event,) = connection.receive(f'{{"jsonrpc":"2.0","id":{text},"method":"logout"}}\n'.encode())
    assert event == RequestReceived(id_, "logout", {})
    answer = json.loads(connection.respond(id_, {}))
    assert (answer["id"], type(answer["id"])) == (id_, type(id_))


def test_a_number_and_the_same_digits_as_text_are_two_ids() -> None:
    """`"1"` is not `1`."""
    connection = agent()
    connection.receive(
        b'{"jsonrpc":"2.0","id":1,"method":"logout"}\n{"jsonrpc":"2.0","id":"1","method":"logout"}\n'
    )
    assert json.loads(connection.respond("1", {}))["id"] == "1"
    assert json.loads(connection.respond(1, {}))["id"] == 1


def test_the_null_id_is_answered_and_reported() -> None:
    """`id: null` with `method` is a request; strict: refused."""
    data = b'{"jsonrpc":"2.0","id":null,"method":"logout"}\n'
    connection = agent()
    events = connection.receive(data)
    assert reasons(events) == ["bad_id"]
    assert delivered(events) == [RequestReceived(None, "logout", {})]
    assert json.loads(connection.respond(None, {})) == {"jsonrpc": "2.0", "id": None, "result": {}}
    events = agent(Policy(strict=True)).receive(data)
    assert [(reply["error"]["code"], reply["id"]) for reply in replies(events)] == [(-32600, None)]
    assert delivered(events) == []


def test_an_id_may_not_be_used_twice_while_it_is_open() -> None:
    """R-018: the second gets -32600 with that id, the first is answered all the same; then reuse is legal."""
    connection = agent()
    data = b'{"jsonrpc":"2.0","id":5,"method":"logout"}\n'
    events = connection.receive(data + data)
    assert [(reply["id"], reply["error"]["data"]["reason"]) for reply in replies(events)] == [
        (5, "duplicate_id")
    ]
    assert delivered(events) == [RequestReceived(5, "logout", {})]
    connection.respond(5, {})
    assert connection.receive(data) == [RequestReceived(5, "logout", {})]


def test_the_other_direction_has_its_own_ids() -> None:
    """Two id spaces: the same number may be open both ways."""
    connection = client()
    assert connection.receive(
        b'{"jsonrpc":"2.0","id":2,"method":"terminal/create","params":{"sessionId":"s1","command":"x"}}\n'
    ) == [RequestReceived(2, "terminal/create", {"sessionId": "s1", "command": "x"})]
    (event,) = connection.receive(b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}\n')
    assert isinstance(event, ResponseReceived)


@pytest.mark.parametrize("params", ["", ',"params":null', ',"params":{}'])
def test_absent_and_null_params_read_as_empty(params: str) -> None:
    """Where nothing is required they pass."""
    connection = agent()
    data = f'{{"jsonrpc":"2.0","id":4,"method":"logout"{params}}}\n'.encode()
    assert connection.receive(data) == [RequestReceived(4, "logout", {})]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_crlf_ends_a_line_too(end: bytes) -> None:
    """R-315: accepted when read."""
    (event,) = agent().receive(b'{"jsonrpc":"2.0","id":4,"method":"logout"}' + end)
    assert isinstance(event, RequestReceived)


def test_a_last_line_without_its_end_is_processed() -> None:
    """EOF ends the line."""
    connection = agent()
    assert connection.receive(b'{"jsonrpc":"2.0","id":4,"method":"logout"}') == []
    first, last = connection.receive(b"")
    assert first == RequestReceived(4, "logout", {})
    assert last == StreamEnded(())


def test_extra_envelope_members_are_ignored_and_reported_when_strict() -> None:
    """Lenient: ignored. Strict: reported, and the message counts all the same."""
    data = b'{"jsonrpc":"2.0","id":4,"method":"logout","extra":1}\n'
    assert agent().receive(data) == [RequestReceived(4, "logout", {})]
    events = agent(Policy(strict=True)).receive(data)
    assert reasons(events) == ["unknown_member"]
    assert delivered(events) == [RequestReceived(4, "logout", {})]


def test_the_last_of_two_equal_members_wins() -> None:
    """Duplicate object keys, read leniently."""
    (event,) = agent().receive(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"logout"}\n')
    assert event == RequestReceived(2, "logout", {})


@pytest.mark.parametrize(
    "method",
    ["session/new", "session/prompt", "x/unknown", "_x", "session/cancel", "session/load", "authenticate"],
)
def test_every_request_before_initialize_is_refused_alike(method: str) -> None:
    """K5, R-022: -32600 comes before method not found and before params."""
    connection = Connection(Role.AGENT)
    events = connection.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode() + b"\n")
    assert [(reply["id"], reply["error"]["code"]) for reply in replies(events)] == [(1, -32600)]
    assert reasons(events) == ["not_initialised"]


def test_a_request_while_initialize_is_open_is_refused() -> None:
    """Ready is the agent when it has handed over the answer; a second initialize is no exception."""
    connection = Connection(Role.AGENT)
    events = connection.receive(INITIALIZE + NEW + INITIALIZE.replace(b'"init"', b'"again"'))
    assert [(reply["id"], reply["error"]["data"]["reason"]) for reply in replies(events)] == [
        ("new", "not_initialised"),
        ("again", "not_initialised"),
    ]
    assert connection.state is ConnectionState.UNINITIALISED
    connection.respond("init", {"protocolVersion": 1})
    assert connection.state is ConnectionState.READY


def test_notifications_before_initialize_are_ignored() -> None:
    """Unknown ones silently; a known one is reported."""
    connection = Connection(Role.AGENT)
    assert reasons(connection.receive(b'{"jsonrpc":"2.0","method":"x/y"}\n')) == []
    cancel = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}\n'
    assert reasons(connection.receive(cancel)) == ["not_initialised"]


# -- responses


def outcome(data: bytes, connection: Connection | None = None) -> tuple[list[str], list[Event]]:
    events = (connection or client()).receive(data + b"\n")
    assert replies(events) == []
    return reasons(events), delivered(events)


@pytest.mark.parametrize(
    "members",
    [
        b'"id":2',
        b'"id":2,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"m"}',
        b'"id":2,"result":{"stopReason":"end_turn"},"error":null',
        b'"id":2,"error":null',
        b'"id":2,"error":{"code":"1","message":"m"}',
        b'"id":2.0,"error":{"code":1}',
    ],
)
def test_a_malformed_response_settles_its_call_as_a_failure(members: bytes) -> None:
    """R-014: waiting on for a better answer would be for ever (T16)."""
    connection = client()
    found, events = outcome(b'{"jsonrpc":"2.0",' + members + b"}", connection)
    assert found == ["response_malformed"]
    (event,) = events
    assert isinstance(event, ResponseReceived)
    assert (event.id, event.method, event.result) == (2, "session/prompt", None)
    assert event.error is not None
    assert event.error.code == -32603
    assert connection.conversation.turn_of(2) is None
    assert outcome(b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}', connection) == (
        ["response_duplicate"],
        [],
    )


def test_a_response_without_jsonrpc_settles_its_call_as_a_failure() -> None:
    """Never answered, but used up."""
    found, events = outcome(b'{"id":2,"result":{"stopReason":"end_turn"}}')
    assert found == ["response_malformed"]
    assert isinstance(events[0], ResponseReceived)
    assert events[0].error is not None


@pytest.mark.parametrize(
    "result", [b"{}", b'{"stopReason":"tired"}', b'{"stopReason":null}', b"[]", b'"end_turn"', b"null"]
)
def test_a_result_that_does_not_fit_settles_its_call_as_a_failure(result: bytes) -> None:
    """T16: unknown or missing stop reason; the sentence says what was expected."""
    found, events = outcome(b'{"jsonrpc":"2.0","id":2,"result":' + result + b"}")
    assert found == ["result_invalid"]
    assert isinstance(events[0], ResponseReceived)
    assert events[0].error is not None
    assert "expected" in events[0].error.message


def test_a_response_to_a_string_of_the_same_digits_is_to_nobody() -> None:
    """Exact ids: no call of id "2" is open."""
    assert outcome(b'{"jsonrpc":"2.0","id":"2","result":{"stopReason":"end_turn"}}') == (
        ["response_unknown_id"],
        [],
    )
    assert outcome(b'{"jsonrpc":"2.0","id":true,"result":{"stopReason":"end_turn"}}') == (
        ["response_malformed"],
        [],
    )
    found, events = outcome(b'{"jsonrpc":"2.0","id":2.0,"result":{"stopReason":"end_turn"}}')
    assert found == []
    assert events == [ResponseReceived(2, "session/prompt", {"stopReason": "end_turn"}, None)]


def test_a_second_response_is_dropped_and_reported() -> None:
    """R-016."""
    connection = client()
    data = b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'
    assert outcome(data, connection)[0] == []
    assert outcome(data, connection) == (["response_duplicate"], [])


def test_the_response_to_a_cancelled_request_is_no_stranger() -> None:
    """R-168: the id is kept until the response comes; nothing to report."""
    connection = client()
    connection.notify("$/cancel_request", {"requestId": 2})
    data = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"Request cancelled"}}'
    found, (event,) = outcome(data, connection)
    assert found == []
    assert isinstance(event, ResponseReceived)
    assert event.error is not None
    assert event.error.code == -32800


def test_null_data_of_an_error_is_none() -> None:
    """`error.data`: accept null."""
    found, (event,) = outcome(b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"m","data":null}}')
    assert found == []
    assert isinstance(event, ResponseReceived)
    assert event.error is not None
    assert event.error.data is None


def test_an_error_code_beyond_32_bits_is_reported_and_still_an_error() -> None:
    """R-256: the schema's range."""
    found, (event,) = outcome(b'{"jsonrpc":"2.0","id":2,"error":{"code":99999999999,"message":"m"}}')
    assert found == ["response_malformed"]
    assert isinstance(event, ResponseReceived)
    assert event.error is not None


def test_null_is_a_result_where_no_member_is_required() -> None:
    """D-01: accepted, with a remark, and read as an empty object."""
    connection = agent()
    connection.receive(
        b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}\n'
    )
    capable = Connection(Role.AGENT)
    capable.receive(
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,'
        b'"clientCapabilities":{"fs":{"writeTextFile":true}}}}\n'
    )
    capable.respond(0, {"protocolVersion": 1})
    capable.receive(NEW)
    capable.respond("new", {"sessionId": "s1"})
    id_, _ = capable.request("fs/write_text_file", {"sessionId": "s1", "path": "/f", "content": ""})
    found, events = outcome(f'{{"jsonrpc":"2.0","id":{id_},"result":null}}'.encode(), capable)
    assert found == ["result_invalid"]
    assert events == [ResponseReceived(id_, "fs/write_text_file", {}, None)]


# -- lines that could not be taken in for a reason of ours


def test_giving_up_on_a_line_answers_a_request_once_and_nothing_else() -> None:
    """Registered or not; one that has its answer gets no other."""
    connection = agent()
    line = b'{"jsonrpc":"2.0","id":"a","method":"session/new","params":{"cwd":"/","mcpServers":[]}}'
    answer = json.loads(connection.give_up(line) or b"")
    assert (answer["id"], answer["error"]["code"]) == ("a", -32603)
    connection.receive_line(line)
    assert json.loads(connection.give_up(line) or b"")["error"]["code"] == -32603
    assert connection.give_up(line) is None
    for other in (b"{", b"[]", b'{"jsonrpc":"2.0","method":"_x"}', b'{"jsonrpc":"2.0","id":0,"result":{}}'):
        assert connection.give_up(other) is None
    assert connection.give_up(LineTooLong(5)) is None


# -- leniency: what is repaired is delivered repaired, with a warning


@pytest.mark.parametrize(
    ("params", "read", "pointer"),
    [
        (
            {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "yes"}}},
            {"protocolVersion": 1, "clientCapabilities": {"fs": {}}},
            "/clientCapabilities/fs/readTextFile",
        ),
        ({"protocolVersion": 1, "clientInfo": 5}, {"protocolVersion": 1}, "/clientInfo"),
        ({"protocolVersion": 1, "clientCapabilities": None}, {"protocolVersion": 1}, "/clientCapabilities"),
    ],
)
def test_a_bad_member_marked_as_tolerable_reads_as_absent(
    params: dict[str, Any], read: dict[str, Any], pointer: str
) -> None:
    """The mark E: the message is delivered as a tolerant reader sees it."""
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    events = Connection(Role.AGENT).receive(line + b"\n")
    remark, event = events
    assert isinstance(remark, ProtocolViolation)
    assert (remark.verdict.severity, remark.verdict.reason) == ("warning", "params_invalid")
    assert remark.verdict.where["path"] == pointer
    assert remark.reply is None
    assert event == RequestReceived(0, "initialize", read)


def test_bad_items_of_a_tolerable_list_are_dropped_and_null_lists_are_empty() -> None:
    """The marks S (a plan's entries) and N (`mcpServers: null`)."""
    entry = {"content": "c", "priority": "low", "status": "pending"}
    update = {"sessionUpdate": "plan", "entries": [{**entry, "status": "x"}, entry]}
    line = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}}
    found, events = outcome(json.dumps(line).encode())
    assert found == ["params_invalid"]
    assert events == [
        NotificationReceived("session/update", {"sessionId": "s1", "update": {**update, "entries": [entry]}})
    ]
    line = {"jsonrpc": "2.0", "id": 9, "method": "session/new", "params": {"cwd": "/w", "mcpServers": None}}
    found, events = outcome(json.dumps(line).encode(), agent())
    assert found == ["params_invalid"]
    assert events == [RequestReceived(9, "session/new", {"cwd": "/w", "mcpServers": []})]


# -- slices and ends


STREAM = (
    INITIALIZE
    + b"nonsense\n\r\n[]\n"
    + b'{"jsonrpc":"2.0","method":"_x","params":{"t":"\xc3\xa9\xf0\x9f\x98\x80"}}\r\n'
    + b"x" * 1500
    + b"\n"
    + b'{"jsonrpc":"2.0","id":1.0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}\n'
    + b'{"jsonrpc":"2.0","id":1'
)


def read_in(slices: list[bytes]) -> list[Event]:
    connection = Connection(Role.AGENT, max_line_bytes=1000)
    return [event for piece in [*slices, b""] for event in connection.receive(piece)]


def test_byte_by_byte_gives_the_same_events_as_whole() -> None:
    """Slices mean nothing; bytes of one character may come apart."""
    assert read_in([STREAM[i : i + 1] for i in range(len(STREAM))]) == read_in([STREAM])
    assert len(read_in([STREAM])) == 8


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    """The same, for random splits; an empty slice would be the end, so none is sent."""
    slices = [STREAM[a:b] for a, b in pairwise([0, *sorted(cuts), len(STREAM)]) if a < b]
    assert read_in(slices) == read_in([STREAM])


def test_line_by_line_an_answer_counts_for_the_next_line() -> None:
    """Whoever answers between two lines is judged by it: session/new right behind initialize is legal then."""
    connection = Connection(Role.AGENT)
    found: list[Event] = []
    for line in connection.lines(INITIALIZE + NEW):
        for event in connection.receive_line(line):
            found.append(event)
            if isinstance(event, RequestReceived) and event.method == "initialize":
                connection.respond(event.id, {"protocolVersion": 1})
    assert [type(event) for event in found] == [RequestReceived, RequestReceived]


def test_after_the_end_of_the_stream_nothing_is_read_any_more() -> None:
    """The one exception of reading, and it is ours: bytes after the end."""
    connection = agent()
    connection.receive(b"")
    assert connection.state is ConnectionState.CLOSING
    with pytest.raises(LocalProtocolError, match="this stream has ended"):
        connection.receive(b"{}\n")
    with pytest.raises(LocalProtocolError):
        connection.receive(b"")


def test_the_end_of_the_stream_names_the_calls_that_get_no_answer() -> None:
    """K8: fail own open requests locally."""
    connection = client()
    assert connection.receive(b"") == [StreamEnded((2,))]
    with pytest.raises(LocalProtocolError, match="closing"):
        connection.request("session/new", {"cwd": "/w", "mcpServers": []})


# -- sending


def test_what_is_sent_is_compact_and_whole() -> None:
    """`jsonrpc`, `id`, `method`, `params` always as an object; own ids count up from 0."""
    connection = Connection(Role.CLIENT)
    id_, line = connection.request("initialize", {"protocolVersion": 1})
    assert id_ == 0
    assert line == b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
    connection.receive(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n')
    assert connection.request("_x", {})[0] == 1
    assert connection.notify("_note", {}) == b'{"jsonrpc":"2.0","method":"_note","params":{}}\n'


def test_errors_are_sent_without_data_when_there_is_none() -> None:
    """`error.data`: omit when nothing."""
    connection = agent()
    connection.receive(b'{"jsonrpc":"2.0","id":"a","method":"logout"}\n')
    line = connection.respond_error("a", RpcError(-32603, "Internal error: x"))
    assert line == b'{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"Internal error: x"}}\n'


ILLEGAL: dict[str, tuple[str, Callable[[Connection], object]]] = {
    "a client's request": (
        "method_unknown",
        lambda c: c.request("session/new", {"cwd": "/", "mcpServers": []}),
    ),
    "an unlisted request": ("method_unknown", lambda c: c.request("x/y", {})),
    "an unlisted notification": ("method_unknown", lambda c: c.notify("x/y", {})),
    "a notification as a request": (
        "notification_as_request",
        lambda c: c.request("session/update", {"sessionId": "s1", "update": {}}),
    ),
    "a request as a notification": ("request_as_notification", lambda c: c.notify("fs/read_text_file", {})),
    "a client's notification": ("method_unknown", lambda c: c.notify("session/cancel", {"sessionId": "s1"})),
    "a call behind a closed gate": (
        "capability_missing",
        lambda c: c.request("fs/read_text_file", {"sessionId": "s1", "path": "/f"}),
    ),
    "an invalid payload": (
        "params_invalid",
        lambda c: c.request("session/request_permission", {"sessionId": "s1"}),
    ),
    "an invalid update": ("params_invalid", lambda c: c.notify("session/update", {"sessionId": "s1"})),
    "an invalid result": ("params_invalid", lambda c: c.respond("open", {"stopReason": "tired"})),
    "an answer to nobody": ("response_unknown_id", lambda c: c.respond("nobody", {})),
    "an error to nobody": ("response_unknown_id", lambda c: c.respond_error("nobody", RpcError(-32603, "m"))),
    "an error code of 40 bits": ("params_invalid", lambda c: c.respond_error("open", RpcError(2**40, "m"))),
    "an update of an unknown session": (
        "update_session_unknown",
        lambda c: c.notify(
            "session/update",
            {
                "sessionId": "s2",
                "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}},
            },
        ),
    ),
    "what JSON can't hold": ("internal", lambda c: c.notify("_x", {"a": 2**70})),
}


@pytest.mark.parametrize(("reason", "send"), ILLEGAL.values(), ids=ILLEGAL.keys())
def test_an_illegal_message_of_ours_raises_and_changes_nothing(
    reason: str, send: Callable[[Connection], object], wire: Any
) -> None:
    """Our mistake is an exception before the wire; the state is as it was, to the last member."""
    connection = agent()
    connection.receive(
        b'{"jsonrpc":"2.0","id":"open","method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}\n'
    )
    before = wire.snapshot(connection)
    with pytest.raises(LocalProtocolError) as caught:
        send(connection)
    assert caught.value.verdict.reason == reason
    assert wire.snapshot(connection) == before


def test_a_client_sends_no_updates_not_even_a_chunk_of_a_streaming_turn(pair: Pair, wire: Any) -> None:
    """The fast path of chunks is the agent's alone."""
    pair.prompt()
    pair.chunk()
    before = wire.snapshot(pair.client)
    with pytest.raises(LocalProtocolError):
        pair.client.notify(
            "session/update", wire.update("agent_message_chunk", content={"type": "text", "text": "x"})
        )
    assert wire.snapshot(pair.client) == before


def test_half_a_character_in_our_text_is_replaced_and_not_an_error() -> None:
    """A model may cut its text anywhere; the line must be UTF-8."""
    connection = agent()
    connection.receive(
        b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}\n'
    )
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a\ud83d"}}
    line = connection.notify("session/update", {"sessionId": "s1", "update": update})
    assert json.loads(line)["params"]["update"]["content"]["text"] == "a\ufffd"


def test_strict_mode_refuses_unknown_members_of_ours_and_reports_the_peers(wire: Any) -> None:
    """R-249: refused when sent, reported when received, which changes nothing for the message."""
    connection = agent(Policy(strict=True))
    events = connection.receive(
        b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[],"x":1}}\n'
    )
    assert reasons(events) == ["unknown_member"]
    assert replies(events) == []
    assert [type(event) for event in delivered(events)] == [RequestReceived]
    for members in ({"x": 1}, {"_x": 1}):
        before = wire.snapshot(connection)
        content = {"type": "text", "text": ""}
        with pytest.raises(LocalProtocolError, match="no such member"):
            connection.notify(
                "session/update", wire.update("agent_message_chunk", content=content, **members)
            )
        assert wire.snapshot(connection) == before
    with pytest.raises(LocalProtocolError, match="no such member"):
        connection.respond(1, {"stopReason": "end_turn", "x": 1})
    line = connection.respond(1, {"stopReason": "end_turn", "_meta": {"x": 1}})
    assert json.loads(line)["result"]["_meta"] == {"x": 1}


def test_strict_mode_reports_unknown_members_of_a_result_and_delivers_it() -> None:
    """The call has its answer; only who watches learns of the member."""
    found, events = outcome(
        b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","x":1}}', client(Policy(strict=True))
    )
    assert found == ["unknown_member"]
    assert events == [ResponseReceived(2, "session/prompt", {"stopReason": "end_turn", "x": 1}, None)]
