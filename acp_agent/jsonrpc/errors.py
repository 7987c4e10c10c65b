"""The error codes of JSON-RPC 2.0 and the one exception that stands for an error response.

Deliberately absent: ACP's own codes (protocol/errors.py) and when to use which.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ErrorCode(IntEnum):
    """The five codes JSON-RPC 2.0 defines. Source: JSON-RPC 2.0, section 5.1."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


class RpcError(Exception):
    """An error response: raised by a handler to give one, and what a failed call of ours got.

    code: any 32-bit integer. message: one short sentence. data: free form JSON, None when there is none.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.data = data

    def to_object(self) -> dict[str, Any]:
        """The `error` member of a response; `data` is left out when there is none."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error

    @classmethod
    def from_object(cls, error: dict[str, Any]) -> RpcError:
        """Read a checked `error` member (see messages.classify)."""
        return cls(error["code"], error["message"], error.get("data"))

    def __repr__(self) -> str:
        return f"RpcError({self.code}, {self.message!r})"
