"""The envelope: requests, notifications, responses, and what is none of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import Malformed, Notification, Request, Response, classify, read_id

V = {"jsonrpc": "2.0"}


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        (0, 0),
        (-1, -1),
        (2**53 + 1, 2**53 + 1),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (1.0, 1),
        (-0.0, 0),
        (2.0**53, 2**53),
        ("", ""),
        ("1", "1"),
        ("é\U0001f600\u0000", "é\U0001f600\u0000"),
        (None, None),
    ],
)
def test_an_id_is_a_string_a_64_bit_integer_or_null(value: Any, id_: Any) -> None:
    """Decision 3: 1.0 is the integer 1; 0 and the empty string are ordinary ids."""
    usable, read = read_id(value)
    assert (usable, read, type(read)) == (True, id_, type(id_))


@pytest.mark.parametrize(
    "value",
    [True, False, 1.5, 2**63, -(2**63) - 1, 1e300, float(-(2**63)), 2.0**53 + 2, "\ud83d", {}, [], [1]],
)
def test_what_cannot_be_echoed_exactly_is_no_id(value: Any) -> None:
    """Fractions, booleans, objects, arrays, too large integers (a parser gives them as floats), half characters."""
    assert read_id(value)[0] is False


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({**V, "id": 1, "method": "m"}, Request(1, "m", {})),
        ({**V, "id": 1, "method": "m", "params": None}, Request(1, "m", {})),
        ({**V, "id": "a", "method": "m", "params": [1]}, Request("a", "m", [1])),
        ({**V, "id": None, "method": "m"}, Request(None, "m", {})),
        ({**V, "id": 1, "method": "m", "result": 1}, Request(1, "m", {})),
        ({**V, "method": "m", "params": {"a": 1}}, Notification("m", {"a": 1})),
        ({**V, "method": ""}, Notification("", {})),
        ({**V, "id": 1, "result": None}, Response(1, None)),
        ({**V, "id": None, "result": {}}, Response(None, {})),
        ({**V, "id": 2.0, "result": 0, "extra": 1}, Response(2, 0)),
    ],
)
def test_a_message_is_known_by_its_members(value: Any, message: Any) -> None:
    """With `method` a call, a request if `id` is there; else a response."""
    read = classify(value)
    assert (type(read), read) == (type(message), message)


@pytest.mark.parametrize("extra", [{}, {"data": None}, {"data": {"a": 1}}])
def test_an_error_response_carries_code_message_and_maybe_data(extra: dict[str, Any]) -> None:
    """R-256: null data is the same as none."""
    read = classify({**V, "id": 1, "error": {"code": -32002, "message": "x", **extra}})
    assert isinstance(read, Response)
    assert read.error is not None
    assert (read.error.code, read.error.message, read.error.data) == (-32002, "x", extra.get("data"))


@pytest.mark.parametrize(
    ("value", "reason", "answer", "id_"),
    [
        (1, "not_an_object", ErrorCode.INVALID_REQUEST, None),
        (None, "not_an_object", ErrorCode.INVALID_REQUEST, None),
        ("x", "not_an_object", ErrorCode.INVALID_REQUEST, None),
        ([], "batch", ErrorCode.INVALID_REQUEST, None),
        ([{**V, "id": 1, "method": "m"}], "batch", ErrorCode.INVALID_REQUEST, None),
        ({}, "bad_envelope", ErrorCode.INVALID_REQUEST, None),
        ({**V, "params": {}}, "bad_envelope", ErrorCode.INVALID_REQUEST, None),
        ({"id": 7, "method": "m"}, "bad_envelope", ErrorCode.INVALID_REQUEST, 7),
        ({"jsonrpc": 2.0, "id": "q", "method": "m"}, "bad_envelope", ErrorCode.INVALID_REQUEST, "q"),
        ({**V, "id": 7, "method": 5}, "bad_envelope", ErrorCode.INVALID_REQUEST, 7),
        ({**V, "id": [], "method": "m"}, "bad_id", ErrorCode.INVALID_REQUEST, None),
        ({"id": {}, "method": 5}, "bad_id", ErrorCode.INVALID_REQUEST, None),
    ],
)
def test_what_is_no_message_names_the_error_it_gets(value: Any, reason: str, answer: int, id_: Any) -> None:
    """-32600 with the id if it is usable, else null."""
    read = classify(value)
    assert isinstance(read, Malformed)
    assert (read.reason, read.answer, read.id) == (reason, answer, id_)


@pytest.mark.parametrize("value", [{"method": "m"}, {"jsonrpc": "1.0", "method": "m"}, {**V, "method": None}])
def test_what_looks_like_a_notification_is_never_answered(value: Any) -> None:
    """Decision 2, R-015."""
    read = classify(value)
    assert isinstance(read, Malformed)
    assert (read.reason, read.answer, read.has_id) == ("bad_envelope", None, False)


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        ({"id": 1, "result": {}}, 1),
        ({**V, "id": 1}, 1),
        ({**V, "id": None}, None),
        ({**V, "id": 1, "result": {}, "error": {"code": 1, "message": ""}}, 1),
        ({**V, "id": 1, "result": {}, "error": None}, 1),
        ({**V, "id": 1, "error": None}, 1),
        ({**V, "id": 1, "error": {"code": "1", "message": ""}}, 1),
        ({**V, "id": 1, "error": {"code": True, "message": ""}}, 1),
        ({**V, "id": 1, "error": {"code": 1}}, 1),
    ],
)
def test_a_broken_response_names_the_call_it_settles(value: Any, id_: Any) -> None:
    """Exactly one of `result` and `error`, a whole error (R-014); never answered."""
    read = classify(value)
    assert isinstance(read, Malformed)
    assert (read.reason, read.answer, read.id, read.has_id) == ("response_malformed", None, id_, True)


@pytest.mark.parametrize(
    "value", [{**V, "result": {}}, {**V, "id": [], "result": {}}, {**V, "id": True, "error": {}}]
)
def test_a_response_without_usable_id_settles_nothing(value: Any) -> None:
    """It can only be reported."""
    read = classify(value)
    assert isinstance(read, Malformed)
    assert (read.reason, read.answer, read.has_id) == ("response_malformed", None, False)


MEMBERS = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
    st.sampled_from(["2.0", "m", 1, 1.5, None, True, [], {}, {"code": 1, "message": "m"}, "\ud800"]),
)


@given(MEMBERS | st.lists(MEMBERS) | st.none() | st.text() | st.floats())
def test_everything_is_something(value: Any) -> None:
    """Classifying never raises, and an answer is only named for what may be answered."""
    read = classify(value)
    if isinstance(read, Malformed):
        looks_like_request = isinstance(value, dict) and "method" in value and "id" in value
        empty = isinstance(value, dict) and not {"method", "id", "result", "error"} & value.keys()
        assert (read.answer is not None) == (not isinstance(value, dict) or looks_like_request or empty)


def test_a_response_keeps_its_error() -> None:
    """The error is the exception a failed call raises."""
    error = RpcError(-1, "m", [1])
    assert Response(1, None, error).error is error
