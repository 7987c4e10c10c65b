"""The envelope: what kind of JSON-RPC message an object is, and what is wrong with it if it is none.

Owns the member names `jsonrpc`, `id`, `method`, `params`, `result`, `error` and the forms of an id.
Deliberately absent: which methods exist and what their params look like.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from acp_agent.jsonrpc.errors import ErrorCode, RpcError

RequestId = int | str | None

_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
# Up to here a float holds every integer; beyond it another number may have been rounded to this one.
_EXACT_MAX: Final = 2**53


class Request(NamedTuple):
    """A call that must be answered once. params: the member as it came; {} when absent or null."""

    id: RequestId
    method: str
    params: Any


class Notification(NamedTuple):
    """A message that is never answered. params: as in Request."""

    method: str
    params: Any


class Response(NamedTuple):
    """An answer. error is None for a success, whose result may be any JSON value, null too."""

    id: RequestId
    result: Any = None
    error: RpcError | None = None


class Malformed(NamedTuple):
    """An object that is no message.

    reason: a slug (`bad_envelope`, `bad_id`, `batch`, `not_an_object`, `response_malformed`).
    sentence: what is wrong, without the peer's values. answer: the error to send, None when the object must
    not be answered (it looks like a notification or a response). id: for the answer, or of the call that a
    broken response meant to settle. has_id: whether that id is usable.
    """

    reason: str
    sentence: str
    answer: ErrorCode | None
    id: RequestId = None
    has_id: bool = False


Message = Request | Notification | Response

_BAD_VERSION = 'the member "jsonrpc" must be "2.0"'


def read_id(value: Any) -> tuple[bool, RequestId]:
    """Whether a value can be an id, and the id it is: 1.0 is the integer 1.

    Refused: fractions, booleans, objects, arrays, integers outside 64 bits, strings that UTF-8 can't carry. A
    parser gives an integer that is too large as a float, so a float is an integer only where floats are exact.
    """
    kind = type(value)
    if kind is int:
        return _INT64_MIN <= value <= _INT64_MAX, value
    if kind is str:
        return value.isascii() or _is_encodable(value), value
    if kind is float and value.is_integer() and abs(value) <= _EXACT_MAX:
        return True, int(value)
    return value is None, None


def classify(value: Any) -> Message | Malformed:
    """Say what a decoded line is. Never raises.

    Source: JSON-RPC 2.0 sections 4 to 6; where it leaves room, the decisions in docs/decisions.md.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):
            return Malformed("batch", "batches are not part of ACP", ErrorCode.INVALID_REQUEST)
        return Malformed("not_an_object", "a message is a JSON object", ErrorCode.INVALID_REQUEST)
    if "method" in value:
        return _classify_call(value) if "id" in value else _classify_notification(value)
    if "id" in value or "result" in value or "error" in value:
        return _classify_response(value)
    sentence = 'a message has "method", "result" or "error"'
    return Malformed("bad_envelope", sentence, ErrorCode.INVALID_REQUEST)


def _classify_call(value: dict[str, Any]) -> Request | Malformed:
    usable, id_ = read_id(value["id"])
    if not usable:
        sentence = "an id is a string or a 64-bit integer"
        return Malformed("bad_id", sentence, ErrorCode.INVALID_REQUEST)
    method = value["method"]
    if value.get("jsonrpc") != "2.0":
        return Malformed("bad_envelope", _BAD_VERSION, ErrorCode.INVALID_REQUEST, id_, has_id=True)
    if not isinstance(method, str):
        sentence = 'the member "method" must be a string'
        return Malformed("bad_envelope", sentence, ErrorCode.INVALID_REQUEST, id_, has_id=True)
    params = value.get("params")
    return Request(id_, method, {} if params is None else params)


def _classify_notification(value: dict[str, Any]) -> Notification | Malformed:
    method = value["method"]
    if value.get("jsonrpc") != "2.0":
        return Malformed("bad_envelope", _BAD_VERSION, None)
    if not isinstance(method, str):
        return Malformed("bad_envelope", 'the member "method" must be a string', None)
    params = value.get("params")
    return Notification(method, {} if params is None else params)


def _classify_response(value: dict[str, Any]) -> Response | Malformed:
    usable, id_ = read_id(value.get("id"))
    usable = usable and "id" in value
    id_ = id_ if usable else None

    def malformed(sentence: str) -> Malformed:
        return Malformed("response_malformed", sentence, None, id_, has_id=usable)

    if value.get("jsonrpc") != "2.0":
        return malformed(_BAD_VERSION)
    if not usable:
        return malformed("a response carries the id of its request")
    if ("result" in value) == ("error" in value):
        return malformed('a response has exactly one of "result" and "error"')
    if "result" in value:
        return Response(id_, value["result"])
    error = value["error"]
    code = error.get("code") if isinstance(error, dict) else None
    if type(code) is not int or not isinstance(error.get("message"), str):
        return malformed("an error has an integer code and a message")
    return Response(id_, None, RpcError.from_object(error))


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
