"""The error response as an exception."""

from __future__ import annotations

import pytest

from acp_agent.jsonrpc.errors import ErrorCode, RpcError


def test_the_codes_are_those_of_json_rpc() -> None:
    """JSON-RPC 2.0, section 5.1."""
    assert {code.name: int(code) for code in ErrorCode} == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
    }


def test_data_is_left_out_when_there_is_none() -> None:
    """`error.data`: omitted when there is nothing to say."""
    assert RpcError(ErrorCode.INTERNAL_ERROR, "m").to_object() == {"code": -32603, "message": "m"}
    assert RpcError(1, "m", {"a": 1}).to_object() == {"code": 1, "message": "m", "data": {"a": 1}}


@pytest.mark.parametrize("data", [None, {"reason": "x"}, [1], "text", 0])
def test_an_error_reads_back_as_it_was(data: object) -> None:
    """What one side writes the other reads."""
    error = RpcError.from_object(RpcError(-32002, "gone", data).to_object())
    assert (error.code, error.message, error.data, str(error)) == (-32002, "gone", data, "gone")


def test_its_representation_is_short() -> None:
    """Logs show code and message, not the data."""
    assert repr(RpcError(-32603, "m", {"secret": 1})) == "RpcError(-32603, 'm')"
