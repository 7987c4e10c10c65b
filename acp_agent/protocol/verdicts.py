"""What the core thinks of a message: a severity, a slug, a sentence, and the error an illegal request gets.

Owns the table of slugs with their codes (docs/verdicts.md).
Deliberately absent: finding out which verdict applies (conversation.py, turns.py, resources.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.protocol.errors import STANDARD_TEXT, AcpErrorCode


class Severity(StrEnum):
    """How sure a verdict is.

    VIOLATION breaks a stated rule; INFERRED a rule that is our reading; SUSPECT may have crossed on the wire and
    can't be proven from order alone; WARNING breaks a SHOULD.
    """

    VIOLATION = "violation"
    INFERRED = "inferred"
    SUSPECT = "suspect"
    WARNING = "warning"


# The code a request gets for each slug. A slug with None can only be reported: no answer is possible.
REASONS: Final[dict[str, int | None]] = {
    "parse_error": ErrorCode.PARSE_ERROR,
    "line_too_long": ErrorCode.PARSE_ERROR,
    "not_an_object": ErrorCode.INVALID_REQUEST,
    "batch": ErrorCode.INVALID_REQUEST,
    "bad_envelope": ErrorCode.INVALID_REQUEST,
    "bad_id": ErrorCode.INVALID_REQUEST,
    "duplicate_id": ErrorCode.INVALID_REQUEST,
    "not_initialised": ErrorCode.INVALID_REQUEST,
    "already_initialised": ErrorCode.INVALID_REQUEST,
    "closing": ErrorCode.INVALID_REQUEST,
    "method_unknown": ErrorCode.METHOD_NOT_FOUND,
    "capability_missing": ErrorCode.METHOD_NOT_FOUND,
    "notification_as_request": ErrorCode.METHOD_NOT_FOUND,
    "mode_not_supported": ErrorCode.INVALID_PARAMS,
    "params_invalid": ErrorCode.INVALID_PARAMS,
    "content_not_supported": ErrorCode.INVALID_PARAMS,
    "session_unknown": AcpErrorCode.RESOURCE_NOT_FOUND,
    "terminal_unknown": AcpErrorCode.RESOURCE_NOT_FOUND,
    "file_not_found": AcpErrorCode.RESOURCE_NOT_FOUND,
    "session_busy_opening": ErrorCode.INVALID_REQUEST,
    "session_already_open": ErrorCode.INVALID_REQUEST,
    "session_closing": ErrorCode.INVALID_REQUEST,
    "turn_active": ErrorCode.INVALID_REQUEST,
    "no_active_turn": ErrorCode.INVALID_REQUEST,
    "auth_required": AcpErrorCode.AUTH_REQUIRED,
    "cancelled": AcpErrorCode.REQUEST_CANCELLED,
    "internal": ErrorCode.INTERNAL_ERROR,
    "request_as_notification": None,
    "response_unknown_id": None,
    "response_duplicate": None,
    "response_malformed": None,
    "result_invalid": None,
    "update_session_unknown": None,
    "update_kind_not_allowed": None,
    "update_late": None,
    "update_ungated": None,
    "tool_call_duplicate": None,
    "tool_call_unknown": None,
    "tool_status_backwards": None,
    "permission_not_awaited": None,
    "permission_option_foreign": None,
    "permission_not_cancelled": None,
    "stop_reason_unasked": None,
    "stop_reason_not_cancelled": None,
    "cancel_as_error": None,
    "end_with_open_call": None,
    "end_with_open_permission": None,
    "terminal_not_released": None,
    "elicitation_duplicate": None,
    "compaction_order": None,
    "unknown_member": None,
}

_LONGEST_NAME: Final = 200


class Verdict(NamedTuple):
    """One finding about one message.

    reason: a slug of REASONS. sentence: one short sentence, never the peer's values.
    where: what helps the peer's developer: `method`, `sessionId`, `terminalId`, `state`, `path`, `expected`.
    code: the error code a request gets, None for the code of the table.
    """

    severity: Severity
    reason: str
    sentence: str
    where: Mapping[str, str] = MappingProxyType({})
    code: int | None = None

    def to_error(self) -> RpcError:
        """The error response of a refused request: `<standard text>: <sentence>`, the slug in `data.reason`."""
        code = self.code if self.code is not None else REASONS[self.reason]
        if code is None:
            code = ErrorCode.INVALID_REQUEST
        standard = STANDARD_TEXT.get(code, "Error")
        return RpcError(code, f"{standard}: {self.sentence}", {"reason": self.reason, **self.where})


def violation(reason: str, sentence: str, *, code: int | None = None, **where: str) -> Verdict:
    """A verdict that a stated rule is broken."""
    return Verdict(Severity.VIOLATION, reason, sentence, _shortened(where), code)


def inferred(reason: str, sentence: str, **where: str) -> Verdict:
    """A verdict that our reading of the protocol is broken."""
    return Verdict(Severity.INFERRED, reason, sentence, _shortened(where))


def suspect(reason: str, sentence: str, **where: str) -> Verdict:
    """A verdict that may be explained by messages that crossed."""
    return Verdict(Severity.SUSPECT, reason, sentence, _shortened(where))


def warning(reason: str, sentence: str, **where: str) -> Verdict:
    """A verdict that a SHOULD is broken."""
    return Verdict(Severity.WARNING, reason, sentence, _shortened(where))


def _shortened(where: dict[str, str]) -> dict[str, str]:
    """A method name that the peer has made up goes into answers and logs: not megabytes of it. Ids stay whole."""
    method = where.get("method", "")
    if len(method) > _LONGEST_NAME:
        where["method"] = method[: _LONGEST_NAME - 1] + "…"
    return where
