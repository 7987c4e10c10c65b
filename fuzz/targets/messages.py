"""Every value is a message or says why not; an id that is taken is the id that came, and no sentence repeats the peer.

No exception is documented.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies.json_values import EDGE_NUMBERS, ODD_VALUES

from acp_agent.jsonrpc.codec import decode, encode
from acp_agent.jsonrpc.messages import Malformed, Notification, Request, Response, classify

_MARK = "said-by-the-peer"
_MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"])
_USUAL = st.sampled_from(
    [
        "2.0",
        _MARK,
        "7",
        "",
        None,
        True,
        [],
        {},
        "\ud800",
        {"code": 1, "message": _MARK},
        {"code": 1.0, "message": "m"},
        {"code": True, "message": "m"},
        {"code": 2**40, "message": "m", "data": [_MARK]},
        {"code": 1, "message": None},
        *EDGE_NUMBERS,
    ]
)
_ENVELOPES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": _USUAL,
        "method": st.just("m") | _USUAL,
        "params": ODD_VALUES,
        "result": ODD_VALUES,
        "error": _USUAL,
    },
)

cases = _ENVELOPES | st.dictionaries(_MEMBERS, _USUAL | ODD_VALUES, max_size=6) | ODD_VALUES


def check(case: Any) -> None:
    """Classify it and look at what is said of it."""
    read = classify(case)
    if isinstance(read, Malformed):
        assert _MARK not in read.sentence
        assert "\n" not in read.sentence
        is_object = isinstance(case, dict)
        is_call = is_object and "method" in case and "id" in case
        is_empty = is_object and not {"method", "id", "result", "error"} & case.keys()
        assert (read.answer is not None) == (not is_object or is_call or is_empty)
        assert read.has_id or read.id is None
        if read.has_id:
            _is_the_same_id(read.id, case["id"])
        assert is_empty or not is_object or not _is_good(case)
        return
    assert case["jsonrpc"] == "2.0"
    assert _is_good(case)
    if isinstance(read, Request | Notification):
        assert isinstance(case["method"], str)
        assert read.method == case["method"]
        assert read.params == ({} if case.get("params") is None else case["params"])
        assert isinstance(read, Request) == ("id" in case)
    if isinstance(read, Response):
        assert "method" not in case
        assert ("result" in case) != ("error" in case)
        assert (read.error is None) == ("result" in case)
        if read.error is not None:
            assert encode(read.error.to_object()) == encode(
                {name: value for name, value in case["error"].items() if name in {"code", "message"}}
                | ({"data": case["error"]["data"]} if case["error"].get("data") is not None else {})
            )
    if not isinstance(read, Notification):
        _is_the_same_id(read.id, case["id"])


def _is_the_same_id(taken: Any, came: Any) -> None:
    assert taken == came
    assert isinstance(taken, bool) == isinstance(came, bool)
    # It is echoed: the peer must find its own id in the answer.
    assert decode(encode({"id": taken}))["id"] == came


def _is_good(case: dict[str, Any]) -> bool:
    """Said once more, from the JSON-RPC 2.0 specification."""
    if case.get("jsonrpc") != "2.0":
        return False
    if "id" in case and not _is_id(case["id"]):
        return False
    if "method" in case:
        return isinstance(case["method"], str)
    if "id" not in case or ("result" in case) == ("error" in case):
        return False
    if "result" in case:
        return True
    error = case["error"]
    return (
        isinstance(error, dict)
        and isinstance(error.get("code"), int)
        and not isinstance(error.get("code"), bool)
        and isinstance(error.get("message"), str)
    )


def _is_id(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, float):
        return value == value // 1 and abs(value) <= 2**53
    return -(2**63) <= value < 2**63
