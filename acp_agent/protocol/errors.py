"""ACP's own error codes, and what is raised when this side tries something illegal.

    Exception
    +-- RpcError (jsonrpc/errors.py)   an error response, given or received
    +-- LocalProtocolError             a message of ours that must not reach the wire

Deliberately absent: what a peer does wrong; that is an event with a verdict (verdicts.py).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from acp_agent.jsonrpc.errors import ErrorCode

if TYPE_CHECKING:
    from acp_agent.protocol.verdicts import Verdict


class AcpErrorCode(IntEnum):
    """The codes ACP v1 adds to JSON-RPC's. Source: definition ErrorCode of the bundled schemas."""

    AUTH_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002
    REQUEST_CANCELLED = -32800


STANDARD_TEXT: Final[dict[int, str]] = {
    ErrorCode.PARSE_ERROR: "Parse error",
    ErrorCode.INVALID_REQUEST: "Invalid request",
    ErrorCode.METHOD_NOT_FOUND: "Method not found",
    ErrorCode.INVALID_PARAMS: "Invalid params",
    ErrorCode.INTERNAL_ERROR: "Internal error",
    AcpErrorCode.AUTH_REQUIRED: "Authentication required",
    AcpErrorCode.RESOURCE_NOT_FOUND: "Resource not found",
    AcpErrorCode.REQUEST_CANCELLED: "Request cancelled",
}


class LocalProtocolError(Exception):
    """We tried to send something illegal. Nothing was sent and no state has changed."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.sentence)
        self.verdict = verdict
