"""Everything the client sends, judged all the time: schema, state machines, and which rule a finding breaks.

Wraps a Connection in the observer's role and strict mode. A violation breaks the rule it is about; a warning, and
what may be explained by messages that crossed, is a remark and never a verdict.
Deliberately absent: what a scenario looks for (stage.py), bytes and times (wire.py).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from acp_agent.harness.verdict import Check, Origin, Remark
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.errors import ErrorCode
from acp_agent.jsonrpc.framing import LineTooLong
from acp_agent.jsonrpc.messages import Request, RequestId, Response, read_id
from acp_agent.protocol import verdicts
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import (
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
)
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.rules import RULES, SLUG_RULES
from acp_agent.protocol.verdicts import Severity

_SETUP_PATHS: Final = {"/cwd": "R-075"}
_PARAMS: Final = {
    "initialize": "R-023",
    "authenticate": "R-044",
    "session/new": "R-058",
    "session/load": "R-061",
    "session/resume": "R-066",
    "session/list": "R-092",
    "session/set_mode": "R-106",
    "session/set_config_option": "R-123",
}
_GATES: Final = {
    "logout": "R-054",
    "session/load": "R-060",
    "session/resume": "R-065",
    "session/close": "R-071",
    "session/list": "R-089",
    "session/delete": "R-100",
    "session/set_mode": "R-108",
}
_RESULTS: Final = {
    "session/request_permission": "R-175",
    "fs/read_text_file": "R-209",
    "fs/write_text_file": "R-212",
    "terminal/create": "R-215",
    "terminal/output": "R-218",
    "terminal/wait_for_exit": "R-219",
    "terminal/kill": "R-220",
    "terminal/release": "R-222",
    "elicitation/create": "R-236",
}
# What is not settled by the protocol, so that nobody can be blamed for it.
_UNSETTLED: Final = frozenset({"session_already_open", "line_too_long"})
_PROVEN: Final = frozenset({Severity.VIOLATION, Severity.INFERRED})
_BROKEN_LINE_CODES: Final = frozenset({ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST})


class Seen(NamedTuple):
    """One line of the client. message: the decoded JSON, None if it is none. event: None if it is no message.

    checks, remarks: what is wrong with it. refusal: for a request that an agent has to refuse, why.
    answer_to: the id that it answers, if it looks like a response; has_answer tells a null id from none.
    """

    message: Any
    event: RequestReceived | NotificationReceived | ResponseReceived | None
    checks: tuple[Check, ...]
    remarks: tuple[Remark, ...]
    refusal: verdicts.Verdict | None
    answer_to: RequestId
    has_answer: bool


class Observer:
    """Follows one connection. `sent` and `received` are called in the order of the wire."""

    def __init__(self) -> None:
        self.connection = Connection(Role.OBSERVER, Policy(strict=True, queue_prompts=True))
        self.broken_lines_sent = 0
        """Lines of the agent that are no message; a client may answer each with an error of no id."""
        self.asked: set[tuple[type, RequestId]] = set()
        """Ids of requests that the agent has sent in a form the core does not know as requests."""
        self._named_sessions: set[str] = set()
        self._offered_initialize = False

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client advertised; {} before `initialize`."""
        return self.connection.conversation.client_capabilities

    @property
    def is_ready(self) -> bool:
        """Whether `initialize` has been answered, so that the client has to answer requests."""
        return self.connection.state is ConnectionState.READY

    def note_agent_message(self, message: Any) -> None:
        """Remember what the agent claimed, also in messages that the core could not use."""
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict):
            self._forget_closed(message.get("id"))
            if isinstance(result.get("sessionId"), str):
                self._named_sessions.add(result["sessionId"])
            self._offered_initialize |= "protocolVersion" in result

    def _forget_closed(self, id_: Any) -> None:
        """The answer to session/close takes back what was claimed of the session."""
        usable, closing = read_id(id_)
        call = self.connection.conversation.open[Side.CLIENT].get(closing) if usable else None
        if call is not None and call.method == "session/close":
            self._named_sessions.discard(call.params["sessionId"])

    def sent(self, data: bytes) -> list[verdicts.Verdict]:
        """The agent writes these bytes now. Returns what is wrong with them, which may be on purpose."""
        events = self.connection.observe(Side.AGENT, data)
        return [event.verdict for event in events if isinstance(event, ProtocolViolation)]

    def received(self, line: bytes | LineTooLong, number: int) -> Seen:
        """One whole line of the client, which has this number in the transcript."""
        if isinstance(line, LineTooLong):
            remark = Remark(f"The client sent a line of more than {line.limit} bytes.", number)
            return Seen(None, None, (), (remark,), None, None, False)
        message = _decode(line)
        events = self.connection.observe(Side.CLIENT, line + b"\n")
        findings = [event for event in events if isinstance(event, ProtocolViolation)]
        answer_to, has_answer = _answered_id(message)
        checks: list[Check] = []
        remarks: list[Remark] = []
        for finding in findings:
            if self._is_excused(finding, message):
                continue
            rules = () if finding.verdict.reason in _UNSETTLED else rules_broken(finding, line, message)
            if rules == ("R-044",) and self._names_terminal_login(message):
                rules = ("R-045",)
            sentence = _explain(finding.verdict)
            if not rules or finding.verdict.severity not in _PROVEN:
                remarks.append(Remark(f"{sentence} ({finding.verdict.severity})", number))
                continue
            for rule in rules:
                checks.append(Check(rule, False, RULES[rule].sentence, sentence, number, Origin.OBSERVER))
        event = next(
            (e for e in events if isinstance(e, RequestReceived | NotificationReceived | ResponseReceived)),
            None,
        )
        if isinstance(event, RequestReceived):
            checks += self._judge_overlap(event, number)
        forbidden = (finding.verdict for finding in findings if _forbids(finding.verdict))
        refusal = None if has_answer or isinstance(event, NotificationReceived) else next(forbidden, None)
        return Seen(message, event, tuple(checks), tuple(remarks), refusal, answer_to, has_answer)

    def client_ended(self) -> None:
        """The client has closed its direction."""
        self.connection.observe(Side.CLIENT, b"")

    def agent_ended(self) -> None:
        """The agent has closed its direction."""
        self.connection.observe(Side.AGENT, b"")

    def _judge_overlap(self, event: RequestReceived, number: int) -> list[Check]:
        """R-316: a prompt while another is open and not cancelled. The core lets prompts queue."""
        turn = self.connection.conversation.turn_of(event.id)
        if event.method != "session/prompt" or turn is None or turn.session.turns[0] is turn:
            return []
        if turn.session.turns[0].cancel:
            return []
        saw = "a second session/prompt before the first was answered"
        return [Check("R-316", False, RULES["R-316"].sentence, saw, number, Origin.OBSERVER)]

    def _names_terminal_login(self, message: Any) -> bool:
        """R-045: it is `authenticate` with a method that only a terminal can do."""
        params = message.get("params") if isinstance(message, dict) else None
        named = params.get("methodId") if isinstance(params, dict) else None
        methods = self.connection.conversation.auth_methods
        return any(method.get("type") == "terminal" and method["id"] == named for method in methods)

    def _is_excused(self, finding: ProtocolViolation, message: Any) -> bool:
        """Whether the agent's own conduct on purpose explains it."""
        reason = finding.verdict.reason
        if reason == "response_unknown_id" and isinstance(finding.message, Response):
            response = finding.message
            if (type(response.id), response.id) in self.asked:
                return True
            code = response.error.code if response.error is not None else None
            if response.id is None and code in _BROKEN_LINE_CODES and self.broken_lines_sent:
                # A line that is no message may be answered with an error of no id (R-015, docs/decisions.md).
                self.broken_lines_sent -= 1
                return True
        if reason == "session_unknown":
            return finding.verdict.where.get("sessionId") in self._named_sessions
        if reason in {"not_initialised", "closing"}:
            return self._offered_initialize
        return False


def _forbids(verdict: verdicts.Verdict) -> bool:
    """Whether an agent has to refuse a request for it; unknown members are only ignored."""
    return verdict.severity in _PROVEN and verdict.reason != "unknown_member"


def rules_broken(finding: ProtocolViolation, line: bytes, message: Any) -> tuple[str, ...]:
    """Which rules a finding on a message of the client is about."""
    verdict = finding.verdict
    reason, where = verdict.reason, verdict.where
    method, path = where.get("method", ""), where.get("path", "")
    if isinstance(finding.message, Request):
        method = finding.message.method
    if reason == "parse_error":
        return (_unreadable(line),)
    if reason == "params_invalid":
        return (_rule_of_params(method, path, verdict, message),)
    if reason == "capability_missing":
        return (_GATES.get(method, "R-032"),)
    if reason == "content_not_supported":
        return ("R-127", "R-205") if method == "session/prompt" else ("R-086",)
    if reason == "response_unknown_id":
        no_id = isinstance(finding.message, Response) and finding.message.id is None
        return ("R-015",) if no_id else ("R-016",)
    if reason == "response_malformed":
        return (rule_of_malformed(message),)
    if reason == "result_invalid":
        return (_RESULTS.get(method, "R-019"),)
    if reason == "permission_not_cancelled":
        return ("R-154", "R-177")
    return SLUG_RULES[reason][:1]


def _unreadable(line: bytes) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "R-001"
    return "R-004" if line.lstrip()[:1] in b'{}["' else "R-006"


def _rule_of_params(method: str, path: str, verdict: verdicts.Verdict, message: Any) -> str:
    if "/_meta" in path:
        return "R-246"
    if (
        path == "/cwd"
        and "absolute" in verdict.sentence
        and method in {"session/new", "session/load", "session/resume"}
    ):
        return "R-075"
    if path.startswith("/additionalDirectories"):
        return "R-078" if "advertised" in verdict.sentence else "R-079"
    if path.endswith("/command"):
        return "R-020"
    if method == "session/set_config_option" and (path == "/type" or _is_boolean_value(message)):
        return "R-114"
    return _PARAMS.get(method, "R-019")


def _is_boolean_value(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    return isinstance(params, dict) and isinstance(params.get("value"), bool)


def rule_of_malformed(message: Any) -> str:
    """Which rule of JSON-RPC an object breaks that is no message, whoever has sent it."""
    if isinstance(message, dict):
        if message.get("jsonrpc") != "2.0":
            return "R-013"
        if "id" not in message or not read_id(message["id"])[0]:
            return "R-016"
        if ("result" in message) == ("error" in message):
            return "R-014"
    return "R-256"


def _answered_id(message: Any) -> tuple[RequestId, bool]:
    if not isinstance(message, dict) or "method" in message or "id" not in message:
        return None, False
    usable, id_ = read_id(message["id"])
    return (id_, True) if usable else (None, False)


def _decode(line: bytes) -> Any:
    try:
        return codec.decode(line)
    except codec.DecodeError:
        return None


def _explain(verdict: verdicts.Verdict) -> str:
    """A finding as a phrase with the place it is about."""
    method, path = verdict.where.get("method"), verdict.where.get("path")
    what = f"the result of {method}" if method and verdict.reason == "result_invalid" else method
    # Many sentences name the place themselves.
    told = path is None or verdict.sentence.endswith(f" at {path}")
    place = " ".join(part for part in (what, None if told else f"at {path}") if part)
    return f"{place}: {verdict.sentence}" if place else verdict.sentence
