"""What has to hold of an agent whatever a client does: the registry of invariants, each with its rule.

A verdict of the core names its rule by `rule_of`; what the core cannot see (time, the process, what a result means) is
an Invariant here. Sentences of rules are in protocol/rules.toml and only there.
Deliberately absent: looking (judge.py, exchange.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from acp_agent.harness.observer import rule_of_malformed
from acp_agent.jsonrpc.errors import ErrorCode
from acp_agent.jsonrpc.messages import Notification, Request, Response
from acp_agent.protocol.events import ProtocolViolation
from acp_agent.protocol.rules import SLUG_RULES


class Finding(NamedTuple):
    """One thing that an agent did wrong. shape: tells finds of one rule apart, the same for the same kind of wrong.

    saw: a phrase for a person. at: how many messages had been seen both ways, the one it is about included.
    """

    rule: str
    shape: str
    saw: str
    at: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What makes two finds one."""
        return self.rule, self.shape


class Invariant(StrEnum):
    """What is looked at beside the verdicts of the core."""

    ANSWERED = "answered"
    PROMPT_ANSWERED = "prompt answered"
    CANCEL_ANSWERED = "cancel answered"
    CANCEL_STOPS = "cancel stops"
    CANCEL_OBEYED = "cancel obeyed"
    CANCEL_NO_ERROR = "cancel without error"
    CLOSE_ANSWERED = "close answered"
    VERSION_KEPT = "version kept"
    VERSION_OFFERED = "version offered"
    BASELINE = "baseline"
    ADVERTISED = "advertised"
    ACCEPTED = "accepted"
    CONTENT_ACCEPTED = "content accepted"
    SERVERS_ACCEPTED = "servers accepted"
    UNKNOWN_SESSION = "unknown session"
    UNKNOWN_METHOD = "unknown method"
    RELATIVE_PATH = "relative path"
    TERMINAL_LOGIN = "terminal login"
    REPLAYED = "replayed"
    LISTED_BY_DIRECTORY = "listed by directory"
    CURSOR_REFUSED = "cursor refused"
    DELETED = "deleted"
    DELETED_TWICE = "deleted twice"
    CURRENT_VALUE = "current value"
    ALL_OPTIONS = "all options"
    ALIVE = "alive"
    ALIVE_AFTER_BROKEN_LINE = "alive after a broken line"
    ALIVE_AFTER_LONG_LINE = "alive after a long line"
    STDERR = "standard error"
    ENDS = "ends"
    RESTS = "rests"


INVARIANTS: Final[Mapping[Invariant, tuple[str, str]]] = MappingProxyType(
    {
        Invariant.ANSWERED: ("R-016", "every request has its answer within the time"),
        Invariant.PROMPT_ANSWERED: ("R-132", "every prompt has its answer within the time of a turn"),
        Invariant.CANCEL_ANSWERED: ("R-155", "a cancelled prompt has its answer within the time of a cancel"),
        Invariant.CANCEL_STOPS: ("R-155", "no tool call begins after a cancel that has been read"),
        Invariant.CANCEL_OBEYED: ("R-156", "a turn whose cancel has been read ends as cancelled"),
        Invariant.CANCEL_NO_ERROR: ("R-157", "a turn whose cancel has been read ends without an error"),
        Invariant.CLOSE_ANSWERED: ("R-072", "a closed session's prompts and the close itself have answers"),
        Invariant.VERSION_KEPT: ("R-027", "version 1 is answered with version 1"),
        Invariant.VERSION_OFFERED: ("R-028", "a version nobody speaks is answered with a result"),
        Invariant.BASELINE: ("R-039", "no baseline method is unknown"),
        Invariant.ADVERTISED: ("R-319", "no method and no content that is advertised is refused"),
        Invariant.ACCEPTED: ("R-320", "no legal request is refused as malformed, or fails inside"),
        Invariant.CONTENT_ACCEPTED: ("R-128", "no prompt of text and links is refused"),
        Invariant.SERVERS_ACCEPTED: ("R-085", "no session is refused for its stdio MCP servers"),
        Invariant.UNKNOWN_SESSION: ("R-070", "a request for an unknown session has an error for an answer"),
        Invariant.UNKNOWN_METHOD: ("R-252", "a request of an unknown method is answered with -32601"),
        Invariant.RELATIVE_PATH: ("R-020", "a relative directory is refused"),
        Invariant.TERMINAL_LOGIN: ("R-048", "no terminal login is offered to a client without auth.terminal"),
        Invariant.REPLAYED: ("R-062", "a loaded session with a past has it replayed before the answer"),
        Invariant.LISTED_BY_DIRECTORY: ("R-091", "a list for a directory names no other directory"),
        Invariant.CURSOR_REFUSED: ("R-095", "a cursor that was never given is refused"),
        Invariant.DELETED: ("R-101", "a deleted session is in no list"),
        Invariant.DELETED_TWICE: ("R-102", "session/delete succeeds"),
        Invariant.CURRENT_VALUE: ("R-115", "the current value of an option is one of its values"),
        Invariant.ALL_OPTIONS: ("R-124", "the answer to a set has the options there were"),
        Invariant.ALIVE: ("R-317", "the process does not end while its input is open"),
        Invariant.ALIVE_AFTER_BROKEN_LINE: ("R-302", "the process outlives a line that is no message"),
        Invariant.ALIVE_AFTER_LONG_LINE: ("R-312", "the process outlives a long line, and serves it"),
        Invariant.STDERR: ("R-318", "standard error shows no traceback, panic or unhandled rejection"),
        Invariant.ENDS: ("R-313", "at the end of its input the process exits in time and leaves no child"),
        Invariant.RESTS: (
            "R-314",
            "with nothing to do the process takes no processor time and little memory",
        ),
    }
)
"""Invariant -> its rule, and what is looked for."""


def found(invariant: Invariant, saw: str, at: int, detail: str = "") -> Finding:
    """A finding on an invariant. detail: what tells it apart from others on the same, such as the method."""
    rule = INVARIANTS[invariant][0]
    return Finding(rule, f"{invariant.replace(' ', '-')}{f':{detail}' if detail else ''}", saw, at)


_RESULTS: Final = {
    "initialize": "R-025",
    "session/new": "R-059",
    "session/list": "R-090",
    "session/load": "R-064",
    "session/prompt": "R-137",
    "session/set_config_option": "R-124",
}
_GATES: Final = {"fs": "R-207", "terminal": "R-213", "elicitation": "R-224"}
_UNGATED: Final = {"notice": "R-147", "compaction_update": "R-150", "compaction_summary_chunk": "R-150"}


def rule_of(finding: ProtocolViolation, line: bytes, message: Any) -> str:
    """The rule that a verdict of the core on a message of an agent is about."""
    reason, path = finding.verdict.reason, finding.verdict.where.get("path", "")
    method = finding.verdict.where.get("method", "")
    if isinstance(finding.message, Request | Notification):
        method = finding.message.method
    match reason:
        case "parse_error":
            return _unreadable(line)
        case "not_an_object" | "batch":
            return "R-005" if reason == "not_an_object" else "R-009"
        case "params_invalid":
            return _rule_of_params(method, path, kind_of(message))
        case "result_invalid":
            return "R-246" if "/_meta" in path else _RESULTS.get(method, "R-019")
        case "capability_missing":
            return _GATES.get(method.partition("/")[0], "R-032")
        case "update_ungated":
            return _UNGATED.get(kind_of(message), "R-113")
        case "update_late":
            return "R-158" if finding.verdict.where.get("state") == "cancelled" else "R-135"
        case "session_unknown":
            return "R-059"
        case "no_active_turn":
            return "R-135"
        case "response_unknown_id":
            return _rule_of_stray(finding.message)
        case "response_malformed":
            return rule_of_malformed(message)
        case _:
            return SLUG_RULES[reason][0]


def shape_of(finding: ProtocolViolation, message: Any) -> str:
    """What makes finds of one rule the same: the slug, the method or kind of update, the place without its numbers."""
    method = finding.verdict.where.get("method", "")
    if isinstance(finding.message, Request | Notification):
        method = finding.message.method
    path = "/".join(
        "*" if part.isdigit() else part for part in finding.verdict.where.get("path", "").split("/")
    )
    words = [finding.verdict.reason, kind_of(message) or method, path]
    return ":".join(word for word in words if word)[:120]


def kind_of(message: Any) -> str:
    """The kind of a `session/update`, "" for any other message."""
    params = message.get("params") if isinstance(message, dict) else None
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    return kind if isinstance(kind, str) else ""


def _unreadable(line: bytes) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "R-001"
    return "R-004" if line.lstrip()[:1] == b"{" else "R-005"


def _rule_of_stray(response: Any) -> str:
    """An answer to nothing. One without an id calls a legal line broken, or answers a notification."""
    if not isinstance(response, Response) or response.id is not None:
        return "R-016"
    refuses = response.error is not None and response.error.code in {
        ErrorCode.PARSE_ERROR,
        ErrorCode.INVALID_REQUEST,
    }
    return "R-320" if refuses else "R-015"


def _rule_of_params(method: str, path: str, kind: str) -> str:
    if "/_meta" in path:
        return "R-246"
    if path.endswith("/path") and ("/locations/" in path or "/content/" in path):
        return "R-193"
    if method == "terminal/create" and path == "/cwd":
        return "R-217"
    if method == "elicitation/create":
        return "R-227"
    if method.startswith("fs/") and path == "/path":
        return "R-020"
    return "R-199" if kind == "plan" else "R-019"
